#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command/file_plan.hpp"

namespace eventloom {

enum class PlotStyle { line_with_points, points, line, steps };

struct PlotSeries {
  std::string name;       ///< UTF-8, like all text of a plot
  std::vector<double> x;  ///< points in drawing order
  std::vector<double> y;  ///< same length as x
  PlotStyle style = PlotStyle::line_with_points;
};

/// Numbers on a grid of equal cells, drawn as colours.
struct PlotGrid {
  std::size_t columns = 0;
  std::size_t rows = 0;
  double x_low = 0;  ///< edge of the first column
  double x_step = 1;
  double x_high = 1;  ///< edge of the last column, which may be narrower
  double y_low = 0;
  double y_step = 1;
  double y_high = 1;
  std::vector<double> values;  ///< row by row
};

/// Places on an axis that have names: numbers of sources or channels.
using PlotNames = std::vector<std::pair<double, std::string>>;

/// Series over one pair of axes. Omits points that an axis cannot show: not finite, or not positive on a logarithmic
/// axis. Linear axes include zero, unless `x_from_zero` is false.
struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_x = false;  ///< the base is 2 if every x is a power of two
  bool log_y = false;
  std::vector<PlotSeries> series;
  std::optional<PlotGrid> grid = {};  ///< drawn instead of series; log_y applies to its numbers
  bool x_from_zero = true;
  bool whole_x = false;  ///< the numbers on this axis are integers, and so are its ticks
  bool whole_y = false;
  PlotNames x_names = {};  ///< ascending; shown at the axis instead of numbers, as many as fit
  PlotNames y_names = {};  ///< likewise, only for a grid
};

/// Throws UserError unless `path` ends in .svg or .png and gnuplot is installed. Call it at the start of a command, so
/// that the command does not fail after hours.
void check_plot_file(const std::string& path);

/// Adds the file of a plot, which replaces an earlier plot.
void plan_plot(FilePlan& plan, const std::string& path);

/// Draws the plots (at least one) with gnuplot, one below the other. Throws UserError, leaving no file, if the file
/// cannot be written or gnuplot fails. Requires check_plot_file().
void write_plot(const std::string& path, const std::vector<Plot>& plots);

/// Whether `file` is a PNG or SVG file of write_plot().
bool is_plot(const std::filesystem::path& file);

}  // namespace eventloom
