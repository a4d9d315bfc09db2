#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/ring_rule.hpp"
#include "core/engine/role_layout.hpp"

/// Node, core and roles of each rank. Pure arithmetic, independent of this machine.
namespace eventloom {

/// The best schedule found by simulating the network.
struct SimulatedSchedule {
  std::string name;                 ///< value of --schedule
  std::uint64_t slot_ns = 0;        ///< 0: no slots
  std::uint64_t message_bytes = 0;  ///< message of one source for one slice
  double share = 0;                 ///< fraction of the rate that the links allow
  std::string next = {};            ///< second-best schedule, with its slots; empty: there was no other
  double next_share = 0;
  double ideal_rate = 0;      ///< rate that the links allow, bytes per second and node
  std::string left_out = {};  ///< points that could not be simulated, with the reason; empty: none
};

/// Input of `eventloom plan`. All counts are at least 1, except `filters`.
struct PlanRequest {
  std::uint32_t nodes = 1;
  std::uint32_t cores_per_node = 1;
  std::uint32_t sources = 1;
  std::uint32_t filters = 0;                      ///< at most nodes * usable_cores()
  std::optional<double> hits_per_second;          ///< rate of one source; std::nullopt: unknown
  double hit_bytes = 8;                           ///< size in the marker format: time word, channel word, payload words
  std::uint64_t epoch_ps = 10'000'000;            ///< length of an epoch in picoseconds
  std::optional<std::uint64_t> epochs_per_slice;  ///< std::nullopt: chosen by the plan
  std::optional<std::uint64_t> message_bytes;     ///< size of the longest messages to simulate;
                                                  ///< std::nullopt: as planned
  std::uint64_t l2_cache = kUsualCache;           ///< bytes per core
  std::optional<std::uint64_t> memory_per_node;   ///< bytes; std::nullopt: no limit
  std::optional<double> link_rate;                ///< bytes per second of a node, each way; std::nullopt: unknown
  std::uint32_t transfers_in_flight = 0;          ///< value of the simulated run; 0: chosen by message size
  std::optional<SimulatedSchedule> simulated;     ///< std::nullopt: the schedule is chosen by rule

  /// Number of a node's cores that get a rank: all cores of a small node, all but the last of a larger one.
  [[nodiscard]] std::uint32_t usable_cores() const;
};

/// Hits per second that one core handles in a whole run, in which it sends, builds and writes. Measured
/// (tests/benchmarks/README.md): 75 million on two cores with 4 sources. For other numbers of sources, scaled with the
/// measured rates of building alone.
double hits_per_core(std::uint32_t sources);

/// Hits per second that one source can feed if its file is read at 4.9 GB/s, the rate measured for reads
/// from the page cache.
double hits_per_source(double hit_bytes);

/// Ranks are distributed cyclically: rank r on node r mod nodes, core r / nodes. Role k is on rank k mod np, so that
/// consecutive roles are on different nodes, and sources and builders are spread evenly.
struct Placement {
  /// Each source first gets a rank. Builders take the remaining ranks, equally many on every node, or as many as the
  /// rate requires. There are never fewer builders than sources, or than ranks if these are fewer; builders may then
  /// share ranks with sources.
  explicit Placement(const PlanRequest& request);

  std::uint32_t nodes;
  Roles roles;
  /// Number of builders that the rate requires but for which there are no cores.
  std::uint32_t builders_missing = 0;

  [[nodiscard]] std::uint32_t node_of(int rank) const { return static_cast<std::uint32_t>(rank) % nodes; }
  [[nodiscard]] std::uint32_t core_of(int rank) const { return static_cast<std::uint32_t>(rank) / nodes; }
  /// Number of builders that share a rank with a source.
  [[nodiscard]] std::uint32_t builders_beside_sources() const;
  /// Whether some builders share their rank with a source while others do not, so that they differ in speed.
  [[nodiscard]] bool builders_unequal() const;

  /// The simulated schedule; otherwise "balanced" if builders are unequal, else "round-robin".
  std::string schedule;
};

/// The roles of a rank by number, each list ascending.
struct RankRoles {
  std::vector<std::uint32_t> sources;
  std::vector<std::uint32_t> builders;
  std::vector<std::uint32_t> filters;
};
/// Returns one element per rank.
std::vector<RankRoles> roles_by_rank(const Roles& roles);

}  // namespace eventloom
