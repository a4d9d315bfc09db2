#include "app/run/progress.hpp"

#include <spdlog/fmt/fmt.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"

namespace eventloom {

namespace {

constexpr int kBarWidth = 24;
constexpr double kBetweenLines_s = 5;

/// Of the terminal; the greatest where nobody says.
std::size_t columns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col - 1U : std::string::npos;
}

/// In one piece, past any buffer.
void write_out(const std::string& text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // nobody reads it
}

std::string time_text(double seconds) {
  const auto s = static_cast<std::uint64_t>(std::round(seconds));
  if (s < 120) return fmt::format("{} s", s);
  return s < 7200 ? fmt::format("{} min", s / 60) : fmt::format("{} h {} min", s / 3600, s / 60 % 60);
}

}  // namespace

ProgressStyle parse_progress_style(const std::string& text) {
  constexpr std::array<std::string_view, 4> kStyles = {"auto", "bar", "lines", "none"};
  const auto found = std::ranges::find(kStyles, text);
  if (found == kStyles.end()) {
    throw UserError("--progress must be auto, bar, lines or none, not '" + text + "'" + did_you_mean(text, kStyles));
  }
  return static_cast<ProgressStyle>(found - kStyles.begin());
}

std::string scaled(double value) {
  constexpr std::array kPrefixes = {"", " k", " M", " G", " T"};
  std::size_t prefix = 0;
  while (value >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  const int decimals = prefix == 0 || value >= 99.95 ? 0 : 1;
  return fmt::format("{:.{}f}{}", value, decimals, kPrefixes[prefix]);
}

std::string text_of(const RunFigures& figures, const Counters& totals) {
  const auto hits = scaled(figures.hits_per_s);
  auto text = fmt::format("{}{}hits/s, {:.1f} MB/s, {} slices, {} events, {} hits lost, rings {:.0f} % full", hits,
                          hits.find(' ') == std::string::npos ? " " : "", figures.bytes_per_s / 1e6,
                          totals[Metric::slices], totals[Metric::events], hits_lost(totals), 100 * figures.ring_fill);
  if (figures.remaining_s) text += fmt::format(", {} left", time_text(*figures.remaining_s));
  return text;
}

Progress::Progress(ProgressStyle style) : style_(style), next_line_s_(kBetweenLines_s) {
  if (style_ != ProgressStyle::automatic) return;
  style_ = isatty(STDERR_FILENO) != 0 ? ProgressStyle::bar : ProgressStyle::lines;
}

void Progress::show(const RunSnapshot& snapshot) {
  if (style_ == ProgressStyle::bar) return draw_bar(snapshot);
  if (style_ != ProgressStyle::lines || snapshot.elapsed_s < next_line_s_) return;
  next_line_s_ = kBetweenLines_s * (1 + std::floor(snapshot.elapsed_s / kBetweenLines_s));
  const auto share = snapshot.figures.share ? fmt::format("{:.1f} % ", 100 * *snapshot.figures.share) : "";
  const auto paused = snapshot.condition.state == "paused" ? ", paused" : "";
  spdlog::info("{}after {}{}: {}", share, time_text(snapshot.elapsed_s), paused,
               text_of(snapshot.figures, snapshot.totals));
}

/// The cursor stays at the beginning of the line, so that a message replaces the bar.
void Progress::draw_bar(const RunSnapshot& snapshot) {
  std::string line;
  if (snapshot.figures.share) {
    std::string bar(static_cast<std::size_t>(*snapshot.figures.share * kBarWidth), '#');
    bar.resize(kBarWidth, '.');
    line = fmt::format("[{}] {:.1f} %  ", bar, 100 * *snapshot.figures.share);
  }
  line += time_text(snapshot.elapsed_s) +
          (snapshot.condition.state == "running" ? "  " : "  " + snapshot.condition.state + "  ");
  line += text_of(snapshot.figures, snapshot.totals);
  write_out("\r\033[K" + line.substr(0, columns()) + "\r");
  bar_shown_ = true;
}

Progress::~Progress() {
  if (bar_shown_) write_out("\r\033[K");
}

}  // namespace eventloom
