#include "app/view/hist/histogram_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "app/command/safe_text.hpp"
#include "app/document/joined_bins.hpp"
#include "app/document/text_bar.hpp"
#include "app/document/tick_text.hpp"
#include "app/view/hist/channel_axis.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kMostBars = 40;
constexpr std::size_t kRangeColumns = 28;

/// The projection: counts summed along the other axis.
std::vector<std::uint64_t> along(const HistogramRecord& histogram, std::size_t axis) {
  const auto inner = histogram.axes.back().edges.size() - 1;
  if (histogram.axes.size() == 1) return histogram.counts;
  std::vector<std::uint64_t> sums(histogram.axes[axis].edges.size() - 1);
  for (std::size_t i = 0; i < histogram.counts.size(); ++i)
    sums[axis == 0 ? i / inner : i % inner] += histogram.counts[i];
  return sums;
}

/// "mean 511.2 keV, standard deviation 1.3 keV", from the centres of the bins.
std::string moments(const HistogramRecord& histogram, std::size_t axis) {
  const auto& [quantity, unit, edges] = histogram.axes[axis];
  const auto counts = along(histogram, axis);
  double n = 0;
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double middle = (edges[i] + edges[i + 1]) / 2;
    const auto weight = static_cast<double>(counts[i]);
    n += weight;
    const double before = sum;
    if (n > 0) sum += (middle - sum) * weight / n;
    squares += weight * (middle - before) * (middle - sum);
  }
  if (n == 0) return quantity + ": no entries in range";
  const auto with_unit = unit.empty() ? "" : " " + unit;
  const std::array range = {edges.front(), edges.back()};
  return fmt::format("{}: mean {:.{}g}{}, standard deviation {:.4g}{}", quantity, sum, digits_between(range, 2) + 4,
                     with_unit, std::sqrt(squares / n), with_unit);
}

std::string totals(const HistogramRecord& histogram) {
  return fmt::format("{} entries, {} below and {} above the range", histogram.entries(), histogram.underflow,
                     histogram.overflow);
}

}  // namespace

void print_histogram_list(std::ostream& out, std::span<const HistogramRecord> histograms) {
  for (const auto& histogram : histograms) {
    out << histogram.name << ": " << totals(histogram) << '\n';
    for (std::size_t axis = 0; axis < histogram.axes.size(); ++axis) out << "  " << moments(histogram, axis) << '\n';
  }
}

void print_histogram(std::ostream& out, const HistogramRecord& histogram, const ChannelNames& names) {
  print_histogram_list(out, std::span(&histogram, 1));
  if (histogram.axes.size() != 1) return;
  const auto shown = joined_bins(histogram, kMostBars);
  const auto& axis = shown.axes.front();
  const auto& edges = axis.edges;
  const int digits = digits_between(edges, 6);
  const auto greatest = std::max<std::uint64_t>(*std::ranges::max_element(shown.counts), 1);
  for (std::size_t i = 0; i < shown.counts.size(); ++i) {
    const auto channel = is_channel_axis(axis) ? only_channel(axis, i) : std::nullopt;
    const auto range = channel ? channel_label(*channel, names)
                               : fmt::format("{:.{}g} up to {:.{}g}", edges[i], digits, edges[i + 1], digits);
    out << "  " << range << std::string(kRangeColumns - std::min(kRangeColumns, columns_of(range)), ' ')
        << fmt::format(" {:>12}  {}\n", shown.counts[i], text_bar(shown.counts[i], greatest));
  }
}

void print_histogram_csv(std::ostream& out, const HistogramRecord& histogram) {
  const auto& first = histogram.axes.front().edges;
  if (histogram.axes.size() == 1) {
    out << "low,high,count\n";
    for (std::size_t i = 0; i < histogram.counts.size(); ++i)
      out << fmt::format("{},{},{}\n", first[i], first[i + 1], histogram.counts[i]);
    return;
  }
  out << "low_0,high_0,low_1,high_1,count\n";
  const auto& second = histogram.axes.back().edges;
  const auto inner = second.size() - 1;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    const auto row = i / inner;
    const auto column = i % inner;
    out << fmt::format("{},{},{},{},{}\n", first[row], first[row + 1], second[column], second[column + 1],
                       histogram.counts[i]);
  }
}

}  // namespace eventloom
