#pragma once

#include <array>
#include <cstdint>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "core/simulation/simulation.hpp"

namespace eventloom {

/// SimGrid with the platform and the link changes of the settings, which must outlive it. One per process. Flows share
/// links fairly, with separate capacity per direction, at full rate: a model of fabrics rather than of TCP.
class LoadedPlatform {
 public:
  /// Throws UserError if the platform is invalid, has too few nodes, or lacks the links named.
  explicit LoadedPlatform(const SimulationSettings& settings);

  [[nodiscard]] simgrid::s4u::Engine& engine() { return engine_; }
  /// Hosts indexed by node.
  [[nodiscard]] const std::vector<simgrid::s4u::Host*>& hosts() const { return hosts_; }
  /// Nanoseconds that the largest message takes at `rate`, plus `latencies` times the longest latency. After two
  /// latencies the source knows that the message has arrived.
  [[nodiscard]] std::uint64_t slot_at(double rate, double latencies) const;

 private:
  const SimulationSettings& settings_;
  std::array<std::string, 5> texts_{"simulator", "--log=root.thres:critical", "--cfg=network/model:CM02",
                                    "--cfg=network/crosstraffic:0", "--cfg=network/TCP-gamma:0"};
  std::array<char*, 6> arguments_{texts_[0].data(), texts_[1].data(), texts_[2].data(),
                                  texts_[3].data(), texts_[4].data(), nullptr};
  int n_arguments_ = static_cast<int>(texts_.size());
  simgrid::s4u::Engine engine_;
  std::vector<simgrid::s4u::Host*> hosts_;
};

}  // namespace eventloom
