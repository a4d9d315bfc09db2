#include "app/document/joined_bins.hpp"

#include <algorithm>
#include <vector>

namespace eventloom {

namespace {

/// How many bins of an axis become one.
std::size_t together(const HistogramAxisRecord& axis, std::size_t most) {
  return (axis.edges.size() - 1 + most - 1) / most;
}

HistogramAxisRecord joined(const HistogramAxisRecord& axis, std::size_t together) {
  HistogramAxisRecord out{axis.quantity, axis.unit, {}};
  for (std::size_t i = 0; i + 1 < axis.edges.size(); i += together) out.edges.push_back(axis.edges[i]);
  out.edges.push_back(axis.edges.back());
  return out;
}

}  // namespace

HistogramRecord joined_bins(const HistogramRecord& histogram, std::size_t most) {
  HistogramRecord out{histogram.name, histogram.text, {}, {}, histogram.underflow, histogram.overflow};
  std::size_t bins = 1;
  for (const auto& axis : histogram.axes) {
    out.axes.push_back(joined(axis, together(axis, most)));
    bins *= out.axes.back().edges.size() - 1;
  }
  out.counts.resize(bins);
  const bool two = histogram.axes.size() == 2;
  const auto inner = two ? histogram.axes[1].edges.size() - 1 : 1;
  const auto inner_out = two ? out.axes[1].edges.size() - 1 : 1;
  const auto by_outer = together(histogram.axes[0], most);
  const auto by_inner = two ? together(histogram.axes[1], most) : 1;
  for (std::size_t row = 0; row * inner < histogram.counts.size(); ++row) {
    const auto* count = histogram.counts.data() + row * inner;
    auto* to = out.counts.data() + row / by_outer * inner_out;
    for (std::size_t i = 0; i < inner; ++to) {
      for (const auto end = std::min(inner, i + by_inner); i < end; ++i) *to += count[i];
    }
  }
  return out;
}

}  // namespace eventloom
