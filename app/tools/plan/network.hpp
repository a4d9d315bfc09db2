#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "app/tools/plan/layout.hpp"

/// Whether the network can carry what a plan asks for.
namespace eventloom {

/// Bytes per second of a node, from and to other nodes. Events that builders send to filters are not counted: how many
/// there are only the data know.
struct NetworkLoad {
  double out = 0;
  double in = 0;
};

/// The most of any node when each source sends one byte per second, the same to every builder.
NetworkLoad load_of_a_byte(const Placement& placement);

struct NetworkAnswer {
  bool used = false;                ///< there are several nodes
  NetworkLoad of_a_hit;             ///< when each source has one hit per second, overlaps of slices included
  std::optional<NetworkLoad> need;  ///< the most of any node; nothing: the rate is unknown
  /// What a node can send, and receive; nothing: unknown. As far as simulated: with the proposed schedule.
  std::optional<double> available;
  std::optional<double> ideal;  ///< what the links of the simulated platform allow
  bool has_filters = false;

  /// The part of what is available that is left; negative when more is needed.
  [[nodiscard]] std::optional<double> margin() const;
  /// Nothing speaks against it.
  [[nodiscard]] bool fits() const { return margin().value_or(0) >= 0; }
};

NetworkAnswer network_of(const Plan& plan);

/// "network: needed ..., available ..., margin ...", one line.
std::string network_text(const NetworkAnswer& network);
/// Rates in bytes per microsecond; null where they are not known.
nlohmann::ordered_json network_json(const NetworkAnswer& network);

}  // namespace eventloom
