#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/ring_rule.hpp"
#include "core/engine/role_layout.hpp"

/// Node, core and roles of each rank. Plain arithmetic, independent of this machine.
namespace eventloom {

/// The schedule that a simulation of the network has found best.
struct SimulatedSchedule {
  std::string name;                 ///< as in --schedule
  std::uint64_t slot_ns = 0;        ///< 0: none
  std::uint64_t message_bytes = 0;  ///< of a source for a slice
  double share = 0;                 ///< of the rate that the links allow
  std::string next = {};            ///< the next best, with its slots; empty: there was no other
  double next_share = 0;
  double ideal_rate = 0;      ///< bytes per second and node that the links allow
  std::string left_out = {};  ///< what could not be simulated, and why; empty: nothing
};

/// The input of `eventloom plan`. All counts are at least 1 except `filters`.
struct PlanRequest {
  std::uint32_t nodes = 1;
  std::uint32_t cores_per_node = 1;
  std::uint32_t sources = 1;
  std::uint32_t filters = 0;                      ///< at most nodes * usable_cores()
  std::optional<double> hits_per_second;          ///< of one source; nothing: unknown
  double hit_bytes = 8;                           ///< in the marker format: time word, channel word, payload words
  std::uint64_t epoch_ps = 10'000'000;            ///< length of an epoch, picoseconds
  std::optional<std::uint64_t> epochs_per_slice;  ///< nothing: chosen
  std::optional<std::uint64_t> message_bytes;     ///< of the longest messages to simulate; nothing: as planned
  std::uint64_t l2_cache = kUsualCache;           ///< of a core, bytes
  std::optional<std::uint64_t> memory_per_node;   ///< bytes; nothing: no bound
  std::optional<double> link_rate;                ///< of a node, bytes per second each way; nothing: unknown
  std::uint32_t transfers_in_flight = 0;          ///< of the run as simulated; 0: by the length of messages
  std::optional<SimulatedSchedule> simulated;     ///< nothing: the schedule is chosen by rule

  /// Cores of a node that get a rank: all of a small node, all but the last of a larger one.
  [[nodiscard]] std::uint32_t usable_cores() const;
};

/// Hits per second that one core handles in a whole run: sends, builds and writes. Measured
/// (tests/benchmarks/README.md): 75 million on two cores with 4 sources; with other numbers of sources in proportion to
/// the measured rates of building alone.
double hits_per_core(std::uint32_t sources);

/// Hits per second that one source can feed when its file is read at 4.9 GB/s, the rate measured for reading from the
/// page cache.
double hits_per_source(double hit_bytes);

/// Ranks are distributed cyclically: rank r on node r mod nodes, core r / nodes. With role k on rank k mod np
/// consecutive roles are on different nodes, so that sources and builders are spread evenly.
struct Placement {
  /// Sources first get a rank each. Builders take the remaining ranks, equally many on every node, or as many as the
  /// rate requires; but never fewer than there are sources, or ranks if these are fewer: then builders share ranks with
  /// sources.
  explicit Placement(const PlanRequest& request);

  std::uint32_t nodes;
  Roles roles;
  /// Builders that the rate requires, but for which there are no cores; 0 when there are enough.
  std::uint32_t builders_missing = 0;

  [[nodiscard]] std::uint32_t node_of(int rank) const { return static_cast<std::uint32_t>(rank) % nodes; }
  [[nodiscard]] std::uint32_t core_of(int rank) const { return static_cast<std::uint32_t>(rank) / nodes; }
  /// Builders that share a rank with a source.
  [[nodiscard]] std::uint32_t builders_beside_sources() const;
  /// Some builders share their rank with a source and others do not: they differ in speed.
  [[nodiscard]] bool builders_unequal() const;

  /// The simulated one, or by rule: "balanced" when builders differ, otherwise "round-robin".
  std::string schedule;
};

/// The roles of a rank by number, each list rising.
struct RankRoles {
  std::vector<std::uint32_t> sources;
  std::vector<std::uint32_t> builders;
  std::vector<std::uint32_t> filters;
};
/// By rank.
std::vector<RankRoles> roles_by_rank(const Roles& roles);

}  // namespace eventloom
