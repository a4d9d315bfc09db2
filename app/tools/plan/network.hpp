#pragma once

#include <optional>
#include <string>

#include "app/tools/plan/layout.hpp"
#include "core/runtime/json.hpp"

/// Checks whether the network can carry the traffic of a plan.
namespace eventloom {

/// Traffic of a node in bytes per second, to and from other nodes. Does not count events that builders send to filters:
/// their number depends on the data.
struct NetworkLoad {
  double out = 0;
  double in = 0;
};

/// Maximum over all nodes if each source sends one byte per second, distributed evenly over the builders.
NetworkLoad load_of_a_byte(const Placement& placement);

struct NetworkAnswer {
  bool used = false;                ///< whether there are several nodes
  NetworkLoad of_a_hit;             ///< traffic if each source has one hit per second, including the overlap of slices
  std::optional<NetworkLoad> need;  ///< maximum over all nodes; std::nullopt: the rate is unknown
  /// Rate at which a node can send, and receive; std::nullopt: unknown. If simulated, with the proposed schedule.
  std::optional<double> available;
  std::optional<double> ideal;  ///< rate that the links of the simulated platform allow
  bool has_filters = false;

  /// Remaining fraction of the available rate; negative if more is needed. std::nullopt: unknown, or a single node.
  [[nodiscard]] std::optional<double> margin() const;
  /// True also if the margin is unknown.
  [[nodiscard]] bool fits() const { return margin().value_or(0) >= 0; }
};

NetworkAnswer network_of(const Plan& plan);

/// Returns one line, "network: needed ..., available ..., margin ...".
std::string network_text(const NetworkAnswer& network);
/// Rates in bytes per microsecond; null if unknown.
Json network_json(const NetworkAnswer& network);

}  // namespace eventloom
