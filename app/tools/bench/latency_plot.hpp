#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "app/document/plot.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

/// Plots the latency at each stage over the measurements in sequence, with a line per stage and percentile.
class LatencyPlot {
 public:
  void add(const Json& point) {
    ++n_;
    for (const auto& [name, us] : point["shown"].items()) {
      auto line = std::ranges::find(series_, name, &PlotSeries::name);
      if (line == series_.end()) line = series_.insert(series_.end(), PlotSeries{name, {}, {}});
      line->x.push_back(n_);
      line->y.push_back(us);
    }
    order_ += (order_.empty() ? "" : ", ") + point["timing"].get<std::string>() + " " +
              point["limit"].get<std::string>() + " " + std::to_string(point["bunch"].get<int>());
  }
  [[nodiscard]] Plot plot() const {
    return {"Latency of packets from their oldest hit", "measurement: " + order_, "us", false, true, series_};
  }

 private:
  double n_ = 0;
  std::string order_;
  std::vector<PlotSeries> series_;
};

}  // namespace eventloom
