#include "app/tools/simulate/simulation_plots.hpp"

#include <algorithm>
#include <set>

#include "app/tools/simulate/simulator.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

void add_to(Plot& plot, const std::string& line, double x, double y) {
  auto series = std::ranges::find(plot.series, line, &PlotSeries::name);
  if (series == plot.series.end()) series = plot.series.insert(series, PlotSeries{line, {}, {}});
  series->x.push_back(x);
  series->y.push_back(100 * y);
}

/// Maximum number of points in a plot; each takes about a hundred bytes of SVG.
constexpr std::size_t kMostPoints = 20'000;

/// Plots the shift of each transfer over its start time. Ranks in step all have the same shift at any time, so the
/// points form a staircase. If there are many transfers, shows those of every n-th sender.
Plot transfers_plot(const std::string& name, const SimulationSettings& settings, const SimulationResult& result) {
  const int ranks = static_cast<int>(settings.ranks());
  const int every = std::min(static_cast<int>(result.log.size() / kMostPoints) + 1, ranks);
  const auto senders = every == 1 ? "" : fmt::format(" (one sender in {})", every);
  Plot plot{fmt::format("Transfers of {} nodes, {}{}", settings.nodes, name, senders),
            "time (us)",
            "receiver - sender, modulo ranks",
            false,
            false,
            {}};
  PlotSeries points{"a transfer begins", {}, {}, PlotStyle::points};
  for (const auto& transfer : result.log) {
    if (transfer.from % every != 0) continue;
    points.x.push_back(transfer.begin * 1e6);
    points.y.push_back((transfer.to - transfer.from + ranks) % ranks);
  }
  plot.series.push_back(std::move(points));
  return plot;
}

}  // namespace

void SimulationPlots::add(const SimulationSettings& settings, const SimulationResult& result) {
  const auto name = settings.fit_slots ? settings.schedule + ", slots" : name_of(settings, result);
  points_.push_back({settings, name, result.rate(settings.nodes) / result.ideal_rate});
  if (settings.transfers) transfers_.push_back(transfers_plot(name, settings, result));
}

Plot SimulationPlots::over_nodes() const {
  Plot plot{"Rate of a node over the number of nodes", "nodes", "share of the ideal (%)", true, false, {}};
  std::set<std::uint64_t> sizes;
  for (const auto& point : points_) sizes.insert(point.settings.message_bytes);
  for (const auto& point : points_) {
    const auto size = sizes.size() == 1 ? "" : fmt::format(", {} B", point.settings.message_bytes);
    add_to(plot, point.name + size, point.settings.nodes, point.share);
  }
  return plot;
}

Plot SimulationPlots::over_sizes() const {
  Plot plot{"Rate of a node over the size of messages", "message (bytes)", "share of the ideal (%)", true, false, {}};
  std::set<std::uint32_t> nodes;
  for (const auto& point : points_) nodes.insert(point.settings.nodes);
  for (const auto& point : points_) {
    const auto size = nodes.size() == 1 ? "" : fmt::format(", {} nodes", point.settings.nodes);
    add_to(plot, point.name + size, static_cast<double>(point.settings.message_bytes), point.share);
  }
  return plot;
}

std::vector<Plot> SimulationPlots::plots() const {
  const auto& first = points_.front().settings;
  const auto differs = [&](auto member) {
    return std::ranges::any_of(points_, [&](const Point& point) { return point.settings.*member != first.*member; });
  };
  std::vector<Plot> plots;
  const bool sizes = differs(&SimulationSettings::message_bytes);
  const bool one_point = !sizes && !differs(&SimulationSettings::nodes);
  if (differs(&SimulationSettings::nodes) || (one_point && transfers_.empty())) plots.push_back(over_nodes());
  if (sizes) plots.push_back(over_sizes());
  plots.insert(plots.end(), transfers_.begin(), transfers_.end());
  return plots;
}

}  // namespace eventloom
