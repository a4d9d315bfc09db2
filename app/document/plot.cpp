#include "app/document/plot.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include "app/document/series_colour.hpp"
#include "app/document/tick_text.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/subprocess.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

namespace {

constexpr int kWidth = 900;
constexpr int kHeight = 430;                      // per plot
constexpr int kLinearTicks = 5;                   // approximately
constexpr std::size_t kMostNamedTicks = 16;       // at an axis
constexpr std::size_t kShortName = 4;             // letters; longer names are written obliquely
constexpr std::array kMarks = {7, 5, 9, 13, 11};  // filled circle, square, triangles, diamond

/// Length of the signature and header at the beginning of a PNG file.
constexpr std::size_t kPngHead = 33;
/// Chunk inserted after the header that identifies the writing program: length, type, text, CRC.
constexpr std::string_view kPngMark("\0\0\0\x12tEXtSoftware\0Eventloom\xdd\x20\xa8\x15", 30);

/// Name that gnuplot gives to an SVG picture as its title, within this many bytes.
constexpr const char* kSvgName = "Eventloom_plot";
constexpr std::size_t kSvgHead = 1024;

using Points = std::vector<std::pair<double, double>>;

/// Inside single quotes gnuplot takes everything literally except the quote itself and a line break.
std::string gnuplot_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += c;
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + "'";
}

bool ends_in(const std::string& path, const std::string& ending) {
  return path.size() > ending.size() && path.ends_with(ending);
}

Points drawable(const Plot& plot, const PlotSeries& series) {
  const auto fits = [](double v, bool log) { return std::isfinite(v) && (!log || v > 0); };
  Points points;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const double y = series.y.at(i);
    if (fits(series.x[i], plot.log_x) && fits(y, plot.log_y)) points.emplace_back(series.x[i], y);
  }
  return points;
}

/// Properties of the values on an axis.
struct AxisExtent {
  double least = HUGE_VAL;
  double greatest = -HUGE_VAL;
  bool powers_of_two = true;

  [[nodiscard]] bool empty() const { return least > greatest; }
  void add(double v) {
    int exponent = 0;
    powers_of_two = powers_of_two && v >= 1 && std::frexp(v, &exponent) == 0.5;
    least = std::min(least, v);
    greatest = std::max(greatest, v);
  }
};

/// Limits and marks of an axis; if `tics` is empty, gnuplot chooses the marks.
struct Scale {
  double low = 0;
  double high = 1;
  double log_base = 0;  ///< 0: linear
  std::vector<std::pair<double, std::string>> tics;
};

void name_ticks(Scale& scale, const std::vector<double>& ticks) {
  const auto texts = tick_texts(ticks);
  for (std::size_t i = 0; i < ticks.size(); ++i) scale.tics.emplace_back(ticks[i], texts[i]);
}

/// A scale of exactly this range.
Scale exact_scale(double low, double high, bool whole) {
  Scale scale{low, high, 0, {}};
  name_ticks(scale, even_ticks(low, high, kLinearTicks, whole ? 1 : 0));
  return scale;
}

/// A scale that includes zero and ends at ticks.
Scale linear_scale(const AxisExtent& extent, bool whole) {
  const double low = std::min(extent.least, 0.0);
  const double high = std::max(extent.greatest, 0.0);
  if (extent.empty() || low == high) return {0, 1, 0, {}};
  const double rough = std::max((high - low) / kLinearTicks, whole ? 0.5 : 0);
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  const double step = decade * (rough < 2 * decade ? 2 : rough < 5 * decade ? 5 : 10);
  Scale scale{step * std::floor(low / step), step * std::ceil(high / step), 0, {}};
  std::vector<double> ticks;
  for (double n = std::round(scale.low / step); n * step < scale.high + step / 2; ++n) ticks.push_back(n * step);
  name_ticks(scale, ticks);
  return scale;
}

Scale binary_scale(const AxisExtent& extent) {
  const bool single = extent.least == extent.greatest;
  Scale scale{extent.least / (single ? 2 : 1), extent.greatest * (single ? 2 : 1), 2, {}};
  const double step = std::exp2(std::ceil(std::log2(extent.greatest / extent.least) / 12));
  for (double v = extent.least; v <= extent.greatest; v *= std::max(step, 2.0)) {
    constexpr std::array kPrefixes = {"", "Ki", "Mi", "Gi", "Ti"};
    std::size_t prefix = 0;
    double shown = v;
    for (; shown >= 1024 && prefix + 1 < kPrefixes.size(); shown /= 1024) ++prefix;
    scale.tics.emplace_back(v, fmt::format("{:.0f}{}", shown, kPrefixes[prefix]));
  }
  return scale;
}

/// A scale of whole decades.
Scale decimal_scale(const AxisExtent& extent) {
  if (extent.empty()) return {1, 10, 10, {}};
  const double low = std::floor(std::log10(extent.least));
  const double high = std::max(std::ceil(std::log10(extent.greatest)), low + 1);
  return {std::pow(10, low), std::pow(10, high), 10, {}};
}

Scale scale_of(const AxisExtent& extent, bool log, bool binary, bool from_zero, bool whole) {
  if (!log && !from_zero && extent.least < extent.greatest) return exact_scale(extent.least, extent.greatest, whole);
  if (!log) return linear_scale(extent, whole);
  return binary && extent.powers_of_two && !extent.empty() ? binary_scale(extent) : decimal_scale(extent);
}

/// Returns as many names as there is room for, at equal distances.
PlotNames readable(const PlotNames& names) {
  const auto every = (names.size() + kMostNamedTicks - 1) / kMostNamedTicks;
  PlotNames some;
  for (std::size_t i = 0; i < names.size(); i += every) some.push_back(names[i]);
  return some;
}

void write_axis(std::ostream& out, char axis, const std::string& label, const Scale& scale, const PlotNames& names) {
  const bool long_names =
      std::ranges::any_of(names, [](const auto& name) { return name.second.size() > kShortName; }) && axis == 'x';
  std::string tics;
  for (const auto& [at, text] : names.empty() ? scale.tics : readable(names)) {
    tics += fmt::format("{}{} {:.17g}", tics.empty() ? "" : ", ", gnuplot_quoted(text), at);
  }
  out << "set " << axis << "label " << gnuplot_quoted(label) << " noenhanced\n";
  out << "unset logscale " << axis << '\n';
  if (scale.log_base != 0) out << "set logscale " << axis << ' ' << scale.log_base << '\n';
  out << fmt::format("set {}range [{:.17g}:{:.17g}]\n", axis, scale.low, scale.high);
  out << "set format " << axis << (scale.log_base == 10 ? " '%.0s%c'\n" : " '%g'\n");
  out << "set " << axis << "tics noenhanced " << (long_names ? "rotate by 30 right " : "norotate autojustify ")
      << (tics.empty() ? "autofreq" : "(" + tics + ")") << '\n';
}

/// Returns whether there are no points to plot.
bool write_axes(std::ostream& out, const Plot& plot, const std::vector<Points>& all) {
  AxisExtent x;
  AxisExtent y;
  for (const auto& points : all) {
    for (const auto& [px, py] : points) {
      x.add(px);
      y.add(py);
    }
  }
  // A bin with one entry must stand above the axis.
  if (plot.log_y && plot.whole_y && !y.empty()) y.add(0.5);
  write_axis(out, 'x', plot.x_label, scale_of(x, plot.log_x, true, plot.x_from_zero, plot.whole_x), plot.x_names);
  write_axis(out, 'y', plot.y_label, scale_of(y, plot.log_y, false, true, plot.whole_y), {});
  return x.empty();
}

void write_data(std::ostream& out, std::size_t number, const Points& points) {
  out << "$series" << number << " << END_OF_SERIES\n";
  for (const auto& [x, y] : points) out << fmt::format("{:.17g} {:.17g}\n", x, y);
  out << "END_OF_SERIES\n";
}

std::string style_of(std::size_t number, PlotStyle style) {
  const auto marks = fmt::format(" pt {} ps 0.8", kMarks[number % kMarks.size()]);
  switch (style) {
    case PlotStyle::points: return "points" + marks;
    case PlotStyle::line: return "lines lw 2";
    case PlotStyle::steps: return "steps lw 2";
    case PlotStyle::line_with_points: break;
  }
  return "linespoints lw 2" + marks;
}

/// A series without points keeps its place in the legend.
std::string curve(std::size_t number, const PlotSeries& series, bool empty) {
  return fmt::format("{} with {} lc rgb '{}' title {} noenhanced",
                     empty ? "NaN" : fmt::format("$series{} using 1:2", number), style_of(number, series.style),
                     series_colour(number), gnuplot_quoted(series.name));
}

/// Cells without a positive number stay white.
void write_grid(std::ostream& out, const Plot& plot, const PlotGrid& grid) {
  const double greatest = *std::ranges::max_element(grid.values);
  out << "$grid << END_OF_GRID\n";
  for (std::size_t i = 0; i < grid.values.size(); ++i) {
    out << fmt::format("{:.17g}", grid.values[i]) << ((i + 1) % grid.columns == 0 ? '\n' : ' ');
  }
  out << "END_OF_GRID\n";
  write_axis(out, 'x', plot.x_label, exact_scale(grid.x_low, grid.x_high, plot.whole_x), plot.x_names);
  write_axis(out, 'y', plot.y_label, exact_scale(grid.y_low, grid.y_high, plot.whole_y), plot.y_names);
  out << "set palette defined (0 '#d4e6f1', 0.3 '#56B4E9', 0.6 '#0072B2', 1 '#1b1b3a')\nset cblabel 'entries in a "
         "bin'\n"
      << (plot.log_y ? "set logscale cb\n" : "unset logscale cb\n")
      << fmt::format("set cbrange [{}:{}]\n", plot.log_y ? 1 : 0, std::max(greatest, 2.0))
      << (greatest > 0 ? "unset label 1\n" : "set label 1 'no data' at graph 0.5, graph 0.5 center\n")
      << fmt::format(
             "plot $grid matrix using ({:.17g}+($1+0.5)*{:.17g}):({:.17g}+($2+0.5)*{:.17g}):($3>0?$3:NaN) "
             "with image notitle\n",
             grid.x_low, grid.x_step, grid.y_low, grid.y_step);
}

void write_one(std::ostream& out, const Plot& plot) {
  std::vector<Points> all;
  for (const auto& series : plot.series) all.push_back(drawable(plot, series));
  out << "set title " << gnuplot_quoted(plot.title) << " noenhanced\n";
  if (plot.grid) return write_grid(out, plot, *plot.grid);
  const bool empty = write_axes(out, plot, all);
  out << (empty ? "set label 1 'no data' at graph 0.5, graph 0.5 center\n" : "unset label 1\n");
  std::string curves;
  for (std::size_t s = 0; s < all.size(); ++s) {
    if (!all[s].empty()) write_data(out, s, all[s]);
    curves += (s == 0 ? "" : ", ") + curve(s, plot.series[s], all[s].empty());
  }
  out << "plot " << (curves.empty() ? "NaN notitle" : curves) << '\n';
}

void write_terminal(std::ostream& out, bool svg, std::size_t plots) {
  const auto height = kHeight * plots;
  if (svg) {
    out << fmt::format("set terminal svg name '{}' size {},{} font 'Arial,14' background '#ffffff'\n", kSvgName, kWidth,
                       height);
  } else {
    out << fmt::format("set terminal pngcairo size {},{} font 'Sans,14' fontscale 1.2 linewidth 1.5 pointscale 1.5\n",
                       kWidth * 3 / 2, height * 3 / 2);
  }
}

/// The legend is on the right, where it never hides a curve. All plots reserve the same space for it, so that their
/// axes are aligned.
void write_style(std::ostream& out, const std::vector<Plot>& plots) {
  std::size_t longest = 0;
  for (const auto& plot : plots) {
    for (const auto& series : plot.series) longest = std::max(longest, series.name.size());
  }
  out << "set encoding utf8\n"
         "set border 3 lc rgb '#666666'\n"
         "set tics nomirror scale 0.5 textcolor rgb '#333333'\n"
         "set grid xtics ytics lt 1 dt solid lc rgb '#dddddd' lw 0.7\n"
         "set title font ',16'\n"
         "set key at graph 1.02, graph 1 left top vertical Left reverse samplen 2 spacing 1.2 noenhanced\n"
      << "set lmargin 10\nset rmargin " << std::min<std::size_t>(longest + 7, 45) << '\n';
}

std::string script_of(const std::vector<Plot>& plots, bool svg) {
  std::ostringstream out;
  write_terminal(out, svg, plots.size());
  write_style(out, plots);
  out << "set multiplot layout " << plots.size() << ",1\n";
  for (const auto& plot : plots) write_one(out, plot);
  out << "unset multiplot\n";
  return out.str();
}

/// Feeds gnuplot, which complains in a locale without a degree sign. It gets its output as an open file, because it
/// takes a name that begins with '|' for a command. Returns whether gnuplot succeeded.
bool run_gnuplot(const std::string& script, const std::string& path) {
  const MemoryFile input(script);
  const int output = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (output < 0) return false;
  Subprocess gnuplot(Program{.words = {"gnuplot", "-d"},
                             .environment = with_variables(own_environment(), {{"LC_ALL", "C.UTF-8"}}),
                             .input = input.descriptor(),
                             .output = output});
  ::close(output);
  return gnuplot.wait().good();
}

/// Adds the mark to a PNG file.
void mark_png(const std::filesystem::path& file) {
  std::string text;
  {
    std::ifstream in(file, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  if (text.size() < kPngHead) throw UserError("'" + file.string() + "' is not what gnuplot should have drawn");
  std::ofstream out(file, std::ios::binary);
  out << text.insert(kPngHead, kPngMark) << std::flush;
  if (!out) throw UserError("cannot write '" + file.string() + "'");
}

}  // namespace

void check_plot_file(const std::string& path) {
  if (!ends_in(path, ".svg") && !ends_in(path, ".png")) {
    throw UserError("plot '" + path + "' must end in .svg or .png");
  }
  if (!find_program("gnuplot")) throw UserError("plots need gnuplot, which is not in PATH: install gnuplot-nox");
}

void plan_plot(FilePlan& plan, const std::string& path) {
  plan.write(path, "--plot", is_plot, FilePlan::Existing::replace);
}

bool is_plot(const std::filesystem::path& file) {
  const auto head = head_of(file, kSvgHead);
  if (head.starts_with("\x89PNG")) return head.size() > kPngHead && head.substr(kPngHead).starts_with(kPngMark);
  return head.find(fmt::format("<title>{}</title>\n<desc>Produced by GNUPLOT", kSvgName)) != std::string::npos;
}

void write_plot(const std::string& path, const std::vector<Plot>& plots) {
  PartialFile file(path, is_plot);
  const bool svg = ends_in(path, ".svg");
  if (!run_gnuplot(script_of(plots, svg), file.path().string())) {
    throw UserError("gnuplot could not draw '" + path + "', see its message above; check the installation");
  }
  if (!svg) mark_png(file.path());
  file.sync();
  file.publish();
}

}  // namespace eventloom
