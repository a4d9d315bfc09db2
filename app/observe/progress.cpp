#include "app/observe/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kBarWidth = 24;
constexpr std::size_t kLeastBar = 4;  // a shorter bar is useless
constexpr double kBetweenLines_s = 5;
constexpr double kShown_s = 24 * 3600;  // no warning for a disk that lasts longer

/// Width of the terminal; the maximum value if unknown.
std::size_t columns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col - 1U : std::string::npos;
}

/// Writes the text with one unbuffered call.
void write_out(const std::string& text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // the reader is gone
}

std::string time_text(double seconds) {
  const auto s = static_cast<std::uint64_t>(std::round(seconds));
  if (s < 120) return fmt::format("{} s", s);
  return s < 7200 ? fmt::format("{} min", s / 60) : fmt::format("{} h {} min", s / 3600, s / 60 % 60);
}

/// A piece of the text and its importance.
struct Figure {
  std::string text;
  int weight;
};

/// "3.2 khits/s", "17 hits/s"
std::string joined_unit(const std::string& value, const char* unit) {
  return value + (value.find(' ') == std::string::npos ? " " : "") + unit;
}

/// Returns the figures in display order.
std::vector<Figure> figures_of(const RunSnapshot& snapshot) {
  const auto& figures = snapshot.figures;
  const auto& totals = snapshot.totals;
  std::vector<Figure> list = {{joined_unit(scaled(figures.hits_per_s), "hits/s"), 5},
                              {joined_unit(scaled(figures.bytes_per_s), "B/s"), 3},
                              {fmt::format("{} slices", totals[Metric::slices]), 1},
                              {fmt::format("{} events", totals[Metric::events]), 6},
                              {fmt::format("{} hits lost", hits_lost(totals)), 8},
                              {fmt::format("rings {:.0f} % full", 100 * figures.ring_fill), 4}};
  if (const auto left = snapshot.disk.left_s; left && *left < kShown_s) {
    list.push_back({"disk full in " + time_text(*left), 7});
  }
  if (figures.remaining_s) list.push_back({time_text(*figures.remaining_s) + " left", 9});
  return list;
}

std::string joined(const std::vector<Figure>& list) {
  std::string text;
  for (const auto& figure : list) text += (text.empty() ? "" : ", ") + figure.text;
  return text;
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

std::string bar_of(const RunSnapshot& snapshot, std::size_t columns) {
  auto list = figures_of(snapshot);
  if (snapshot.condition.state != "running") list.insert(list.begin(), {snapshot.condition.state, 7});
  list.insert(list.begin(), {"after " + time_text(snapshot.elapsed_s), 2});
  const auto& share = snapshot.figures.share;
  if (share) list.insert(list.begin(), {fmt::format("{:.1f} %", 100 * *share), 10});
  auto text = joined(list);
  for (; text.size() > columns && list.size() > 1; text = joined(list)) {
    list.erase(std::ranges::min_element(list, {}, &Figure::weight));
  }
  text.resize(std::min(text.size(), columns));
  const auto room = columns - text.size();
  constexpr std::size_t kFrame = 3;  // "[] "
  if (!share || room < kFrame + kLeastBar) return text;
  const auto width = std::min(kBarWidth, room - kFrame);
  std::string bar(static_cast<std::size_t>(*share * static_cast<double>(width)), '#');
  bar.resize(width, '.');
  return "[" + bar + "] " + text;
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
  log::info("{}after {}{}: {}", share, time_text(snapshot.elapsed_s), paused, joined(figures_of(snapshot)));
}

/// The cursor stays at the beginning of the line, so that a message overwrites the bar.
void Progress::draw_bar(const RunSnapshot& snapshot) {
  write_out("\r\033[K" + bar_of(snapshot, columns()) + "\r");
  bar_shown_ = true;
}

Progress::~Progress() {
  if (bar_shown_) write_out("\r\033[K");
}

}  // namespace eventloom
