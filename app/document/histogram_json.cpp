#include "app/document/histogram_json.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "app/document/joined_bins.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kMostOnAxis = 16384;
constexpr std::size_t kMostOnTwo = 400;

Json counts_json(const HistogramRecord& histogram) {
  if (histogram.axes.size() == 1) return histogram.counts;
  const auto inner = histogram.axes.back().edges.size() - 1;
  auto rows = Json::array();
  for (auto row = histogram.counts.begin(); row != histogram.counts.end(); row += static_cast<std::ptrdiff_t>(inner))
    rows.push_back(std::vector<std::uint64_t>(row, row + static_cast<std::ptrdiff_t>(inner)));
  return rows;
}

}  // namespace

Json histogram_json(const HistogramRecord& histogram) {
  auto axes = Json::array();
  for (const auto& [quantity, unit, edges] : histogram.axes)
    axes.push_back({{"quantity", quantity}, {"unit", unit}, {"edges", edges}});
  return {{"name", histogram.name},         {"axes", std::move(axes)},          {"counts", counts_json(histogram)},
          {"entries", histogram.entries()}, {"underflow", histogram.underflow}, {"overflow", histogram.overflow}};
}

Json histograms_json(std::span<const HistogramRecord> histograms) {
  auto list = Json::array();
  for (const auto& histogram : histograms) list.push_back(histogram_json(histogram));
  Json all;
  all["histograms"] = std::move(list);
  return all;
}

HistogramRecord for_page(const HistogramRecord& histogram) {
  return joined_bins(histogram, histogram.axes.size() == 2 ? kMostOnTwo : kMostOnAxis);
}

}  // namespace eventloom
