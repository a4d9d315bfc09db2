#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "app/observe/run_snapshot.hpp"

namespace eventloom {

enum class ProgressStyle : std::uint8_t {
  automatic,  ///< a bar where standard error is a terminal, else lines: a launcher does not say where it sends them
  bar,
  lines,
  none,
};

/// "bar" and so on. Throws UserError.
ProgressStyle parse_progress_style(const std::string& text);

/// Shows the progress of a run on standard error: a bar, or a line every few seconds. Each is one write. For one rank.
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

/// The bar and the figures of a run in at most this many columns: "[######......] 50.0 %, after 12 s, 1.2 M hits/s,
/// ...". What matters least is left out first; the bar has the room that is left.
std::string bar_of(const RunSnapshot& snapshot, std::size_t columns);
/// "950", "1.2 k", "3.4 M": three digits and a prefix.
std::string scaled(double value);

}  // namespace eventloom
