#include "app/tools/bench/patterns_view.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "app/tools/bench/distribution_plots.hpp"
#include "app/tools/bench/measured_times.hpp"

namespace eventloom {

namespace {

/// Whether some points differ only by their queues, so that each queue needs a separate line.
bool by_queue(const Json& points) {
  std::set<std::string> queues;
  std::set<std::string> others;
  for (const auto& point : points) {
    Json about = {point.value("transport", ""), point["pattern"], point["schedule"], point["message_bytes"]};
    others.insert(about.dump());
    about.push_back(point["queue"]);
    queues.insert(about.dump());
  }
  return queues.size() != others.size();
}

/// Rate over message size, with a line per pattern and schedule, and the ceilings.
class RatePlot {
 public:
  /// `queues`: draw a separate line for each queue.
  explicit RatePlot(bool queues) : queues_(queues) {}

  void add(const Json& point) {
    const auto transport = point.contains("transport") ? series_name(point, {"transport"}) + ", " : std::string();
    const std::string pattern = point["pattern"];
    const double size = point["message_bytes"];
    const auto queue = queues_ ? ", queue " + std::to_string(point["queue"].get<int>()) : std::string();
    add(transport + pattern + " " + point["schedule"].get<std::string>() + queue, size, point["rate_bytes_per_us"]);
    add(transport + "bare put, " + pattern, size, point["ceiling_bytes_per_us"]);
    const Json peers = point.value("peers", Json::object());
    for (const auto& [peer, rates] : peers.items()) {
      add(transport + peer + ", " + pattern, size, rates["rate_bytes_per_us"]);
    }
  }
  [[nodiscard]] Plot plot() && { return std::move(plot_); }

 private:
  // The ceiling of a pattern is measured again for each schedule: the first counts.
  void add(const std::string& name, double x, double y) {
    const auto line = std::ranges::find(plot_.series, name, &PlotSeries::name);
    if (line == plot_.series.end() || std::ranges::count(line->x, x) == 0) add_to_series(plot_, name, x, y);
  }

  bool queues_;
  Plot plot_{"Data rate per rank", "message (bytes)", "bytes/us", true, true, {}};
};

Plot plot_over_time(const Json& point) {
  Plot plot{"Rate over time, the last point", "time (ms)", "bytes/us", false, false, {}};
  for (const auto& c : point["connections"]) {
    PlotSeries line{std::to_string(c["from"].get<int>()) + " to " + std::to_string(c["to"].get<int>()), {}, {}};
    double ms = 0;
    for (const auto& rate : c["rate_over_time_bytes_per_us"]) {
      line.x.push_back(ms += c["bin_seconds"].get<double>() * 1000);
      line.y.push_back(rate);
    }
    plot.series.push_back(line);
  }
  return plot;
}

}  // namespace

std::vector<Plot> patterns_plots(const Json& points) {
  RatePlot rates(by_queue(points));
  DistributionPlots times("Messages");
  for (const auto& point : points) {
    rates.add(point);
    times.add(point["message_bytes"], series_name(point, {"transport", "pattern", "schedule", "queue"}),
              histogram_of(point["message_time"]));
  }
  std::vector<Plot> plots{std::move(rates).plot()};
  for (auto& plot : times.plots()) plots.push_back(std::move(plot));
  if (!points.empty()) plots.push_back(plot_over_time(points.back()));
  return plots;
}

}  // namespace eventloom
