#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "app/observe/run_snapshot.hpp"

namespace eventloom {

enum class ProgressStyle : std::uint8_t {
  automatic,  ///< a bar if standard error is a terminal, otherwise lines
  bar,
  lines,
  none,
};

/// Parses "auto", "bar", "lines" or "none". Throws UserError.
ProgressStyle parse_progress_style(const std::string& text);

/// Shows the progress of a run on standard error: a bar, or a line every few seconds. Each update is one write. Used
/// by one rank only.
class Progress {
 public:
  explicit Progress(ProgressStyle style);
  /// Clears the bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const RunSnapshot& snapshot);

 private:
  void draw_bar(const RunSnapshot& snapshot);

  ProgressStyle style_;
  double next_line_s_;
  bool bar_shown_ = false;
};

/// Returns the bar and the figures of a run in at most `columns` columns: "[######......] 50.0 %, after 12 s, 1.2 M
/// hits/s, ...". Omits the least important figures first; the bar takes the remaining space.
std::string bar_of(const RunSnapshot& snapshot, std::size_t columns);
/// Formats three digits and a prefix: "950", "1.2 k", "3.4 M".
std::string scaled(double value);

}  // namespace eventloom
