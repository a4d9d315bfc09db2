#pragma once

#include <string>
#include <vector>

#include "app/command/file_plan.hpp"

namespace eventloom {

enum class PlotStyle { line_with_points, points, line, steps };

struct PlotSeries {
  std::string name;       ///< UTF-8, as all text of a plot
  std::vector<double> x;  ///< points in the order of the line
  std::vector<double> y;  ///< as many as x
  PlotStyle style = PlotStyle::line_with_points;
};

/// Series over one pair of axes. Points that an axis cannot show (not finite; zero or negative on a
/// logarithmic axis) are omitted. Linear axes begin at zero.
struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_x = false;  ///< to base 2 when every x is a power of two
  bool log_y = false;
  std::vector<PlotSeries> series;
};

/// Throws UserError unless `path` ends in .svg or .png and gnuplot is installed. To be called at the start of a
/// command, so that it does not fail after hours.
void check_plot_file(const std::string& path);

/// Adds the file of a plot, which must not exist: an SVG file does not show who wrote it.
void plan_plot(FilePlan& plan, const std::string& path);

/// Draws the plots, at least one, one below the other, with gnuplot. Throws UserError when the file cannot be written
/// or gnuplot fails; no file is left then. `ours`: what it may replace. Requires check_plot_file().
void write_plot(const std::string& path, const std::vector<Plot>& plots, Recognise ours = is_nobodys);

/// Whether it is a PNG file of write_plot().
bool is_png_plot(const std::filesystem::path& file);

}  // namespace eventloom
