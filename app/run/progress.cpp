#include "app/run/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace eventloom {

namespace {

using std::chrono::milliseconds;

constexpr int kBarWidth = 40;
constexpr std::chrono::minutes kLongestInterval{10};

void draw_bar(double share, std::uint64_t slices, double elapsed) {
  const int full = static_cast<int>(share * kBarWidth);
  std::string bar(static_cast<std::size_t>(full), '#');
  bar.resize(kBarWidth, '.');
  std::fprintf(stderr, "\r[%s] %5.1f %%  %llu slices  %.0f s ", bar.c_str(), 100 * share,
               static_cast<unsigned long long>(slices), elapsed);
}

}  // namespace

Progress::Progress(bool active)
    : active_(active),
      terminal_(isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()),
      interval_(terminal_ ? SteadyTime::duration(milliseconds(200)) : SteadyTime::duration(std::chrono::seconds(10))) {
  next_ = start_ + interval_;
}

void Progress::update(SteadyTime now, std::uint64_t slices, std::optional<std::uint64_t> slices_expected) {
  if (!active_ || now < next_) return;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const bool known = slices_expected && *slices_expected > 0;
  const double share = known ? std::min(1.0, static_cast<double>(slices) / static_cast<double>(*slices_expected)) : 0;
  if (terminal_) {
    draw_bar(share, slices, elapsed);
    bar_shown_ = true;
  } else if (known) {
    std::fprintf(stderr, "eventloom: %.1f %% sent after %.0f s\n", 100 * share, elapsed);
  } else {
    std::fprintf(stderr, "eventloom: %llu slices sent after %.0f s\n", static_cast<unsigned long long>(slices),
                 elapsed);
  }
  // A batch log gets fewer lines as the run gets longer.
  if (!terminal_) interval_ = std::min<SteadyTime::duration>(interval_ * 2, kLongestInterval);
  next_ = now + interval_;
}

Progress::~Progress() {
  if (bar_shown_) std::fprintf(stderr, "\r%*s\r", kBarWidth + 40, "");
}

}  // namespace eventloom
