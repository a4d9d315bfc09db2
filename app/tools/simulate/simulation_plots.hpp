#pragma once

#include <string>
#include <vector>

#include "app/document/plot.hpp"
#include "core/simulation/simulation.hpp"

namespace eventloom {

/// The plots of a simulation: share of the ideal rate over nodes and over sizes, with a line per schedule, and the
/// transfers over time.
class SimulationPlots {
 public:
  void add(const SimulationSettings& settings, const SimulationResult& result);
  /// Requires at least one point.
  [[nodiscard]] std::vector<Plot> plots() const;

 private:
  struct Point {
    SimulationSettings settings;
    std::string name;  ///< name of the schedule
    double share = 0;
  };
  [[nodiscard]] Plot over_nodes() const;
  [[nodiscard]] Plot over_sizes() const;

  std::vector<Point> points_;
  std::vector<Plot> transfers_;
};

}  // namespace eventloom
