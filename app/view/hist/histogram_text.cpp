#include "app/view/hist/histogram_text.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "app/document/text_bar.hpp"
#include "app/view/hist/joined_bins.hpp"

namespace eventloom {

namespace {

using HistogramDocument = nlohmann::ordered_json;

constexpr std::size_t kMostBars = 40;

/// The counts summed along the other axis.
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
  return fmt::format("{}: mean {:.6g}{}, standard deviation {:.4g}{}", quantity, sum, with_unit, std::sqrt(squares / n),
                     with_unit);
}

std::string totals(const HistogramRecord& histogram) {
  return fmt::format("{} entries, {} below and {} above the range", histogram.entries(), histogram.underflow,
                     histogram.overflow);
}

HistogramDocument counts_json(const HistogramRecord& histogram) {
  if (histogram.axes.size() == 1) return histogram.counts;
  const auto inner = histogram.axes.back().edges.size() - 1;
  auto rows = HistogramDocument::array();
  for (auto row = histogram.counts.begin(); row != histogram.counts.end(); row += static_cast<std::ptrdiff_t>(inner))
    rows.push_back(std::vector<std::uint64_t>(row, row + static_cast<std::ptrdiff_t>(inner)));
  return rows;
}

}  // namespace

void print_histogram_list(std::ostream& out, std::span<const HistogramRecord> histograms) {
  for (const auto& histogram : histograms) {
    out << histogram.name << ": " << totals(histogram) << '\n';
    for (std::size_t axis = 0; axis < histogram.axes.size(); ++axis) out << "  " << moments(histogram, axis) << '\n';
  }
}

void print_histogram(std::ostream& out, const HistogramRecord& histogram) {
  print_histogram_list(out, std::span(&histogram, 1));
  if (histogram.axes.size() != 1) return;
  const auto shown = joined_bins(histogram, kMostBars);
  const auto& edges = shown.axes.front().edges;
  const auto greatest = std::max<std::uint64_t>(*std::ranges::max_element(shown.counts), 1);
  for (std::size_t i = 0; i < shown.counts.size(); ++i) {
    const auto range = fmt::format("{:.6g} up to {:.6g}", edges[i], edges[i + 1]);
    out << fmt::format("  {:<28} {:>12}  {}\n", range, shown.counts[i], text_bar(shown.counts[i], greatest));
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

nlohmann::ordered_json histograms_json(std::span<const HistogramRecord> histograms) {
  auto list = HistogramDocument::array();
  for (const auto& histogram : histograms) {
    auto axes = HistogramDocument::array();
    for (const auto& [quantity, unit, edges] : histogram.axes)
      axes.push_back({{"quantity", quantity}, {"unit", unit}, {"edges", edges}});
    list.push_back({{"name", histogram.name},
                    {"axes", axes},
                    {"counts", counts_json(histogram)},
                    {"entries", histogram.entries()},
                    {"underflow", histogram.underflow},
                    {"overflow", histogram.overflow}});
  }
  HistogramDocument all;
  all["histograms"] = std::move(list);
  return all;
}

}  // namespace eventloom
