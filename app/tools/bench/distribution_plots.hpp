#pragma once

#include <string>
#include <vector>

#include "app/document/latency_histogram.hpp"
#include "app/document/plot.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

/// The values of a point's `members`, those that it has, joined by commas: the name of its curve. A peer "ring" and a
/// pause of 0, the defaults, are left out.
std::string series_name(const Json& point, const std::vector<const char*>& members);
/// Adds a place to the series of a plot that has this name, which it creates if necessary.
void add_to_series(Plot& plot, const std::string& name, double x, double y);

/// Draws distributions as the share of times that are longer than a time: tails are what is compared. One plot per
/// message size, of the smallest and of the largest one.
class DistributionPlots {
 public:
  /// `what`: what is timed, for the titles.
  explicit DistributionPlots(std::string what) : what_(std::move(what)) {}

  void add(double message_bytes, const std::string& name, const LatencyHistogram& times);
  /// One or two plots; none without times.
  [[nodiscard]] std::vector<Plot> plots() const;

 private:
  struct OfSize {
    double bytes = 0;
    std::vector<PlotSeries> series;
  };

  [[nodiscard]] Plot plot(const OfSize& size) const;

  std::string what_;
  std::vector<OfSize> sizes_;
};

}  // namespace eventloom
