#include "app/view/hist/histogram_plot.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "app/document/joined_bins.hpp"
#include "app/view/hist/channel_axis.hpp"

namespace eventloom {

namespace {

/// Larger numbers of cells are joined: a picture has no pixels for them.
constexpr std::size_t kMostCells = 400;

std::string label_of(const HistogramAxisRecord& axis) {
  return axis.quantity + (axis.unit.empty() ? "" : " [" + axis.unit + "]");
}

PlotGrid grid_of(const HistogramRecord& histogram) {
  const auto cells = joined_bins(histogram, kMostCells);
  const auto& x = cells.axes[0].edges;
  const auto& y = cells.axes[1].edges;
  PlotGrid grid{x.size() - 1, y.size() - 1, x[0], x[1] - x[0], x.back(), y[0], y[1] - y[0], y.back(), {}};
  for (std::size_t row = 0; row < grid.rows; ++row) {
    for (std::size_t column = 0; column < grid.columns; ++column)
      grid.values.push_back(static_cast<double>(cells.counts[column * grid.rows + row]));
  }
  return grid;
}

/// Places the name or number of a channel in the middle of its bin; empty if bins are wider than a channel.
PlotNames names_on(const HistogramAxisRecord& axis, const ChannelNames& names) {
  PlotNames places;
  if (!is_channel_axis(axis)) return places;
  for (std::size_t i = 0; i + 1 < axis.edges.size(); ++i) {
    const auto channel = only_channel(axis, i);
    if (!channel) continue;
    places.emplace_back((axis.edges[i] + axis.edges[i + 1]) / 2, channel_label(*channel, names));
  }
  return places;
}

bool counts_things(const HistogramAxisRecord& axis) { return axis.quantity == "n_hits" || axis.quantity == "channel"; }

}  // namespace

Plot plot_of(const HistogramRecord& histogram, bool log_counts, const ChannelNames& names) {
  Plot plot{histogram.name, label_of(histogram.axes[0]), "entries in a bin", false, log_counts, {}};
  plot.x_from_zero = false;
  plot.whole_x = counts_things(histogram.axes[0]);
  plot.whole_y = histogram.axes.size() == 1 || counts_things(histogram.axes[1]);
  plot.x_names = names_on(histogram.axes[0], names);
  if (histogram.axes.size() == 2) {
    plot.y_label = label_of(histogram.axes[1]);
    plot.y_names = names_on(histogram.axes[1], names);
    plot.grid = grid_of(histogram);
    return plot;
  }
  PlotSeries series{"entries", histogram.axes[0].edges, {}, PlotStyle::steps};
  for (const auto count : histogram.counts) series.y.push_back(static_cast<double>(count));
  series.y.push_back(series.y.back());
  // A step stands on half an entry where a logarithmic axis cannot show none.
  if (log_counts) std::ranges::transform(series.y, series.y.begin(), [](double y) { return std::max(y, 0.5); });
  plot.series.push_back(std::move(series));
  return plot;
}

}  // namespace eventloom
