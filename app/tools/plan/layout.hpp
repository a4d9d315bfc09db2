#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/tools/plan/placement.hpp"
#include "core/engine/ring_rule.hpp"

/// The proposal of `eventloom plan`: placement, rings, slices and the memory that they take.
namespace eventloom {

/// As options of `eventloom run`.
struct RingChoice {
  RingSize ring;
  std::uint32_t slices_in_flight = 4;
  std::uint64_t epochs_per_slice = 100;

  bool operator==(const RingChoice&) const = default;
};

/// Bytes of one rank. Rings are exact; the rest is estimated from measurements.
struct RankMemory {
  std::uint64_t rings = 0;   ///< its window
  std::uint64_t slices = 0;  ///< received, being built, or read ahead; 0 while the rate is unknown
  std::uint64_t output = 0;  ///< a chunk of each column
  std::uint64_t program = 0;

  [[nodiscard]] std::uint64_t total() const { return rings + slices + output + program; }
};

/// The rings between the assigner and the others where builders claim slices ("balanced"), as in Wiring; nothing
/// otherwise.
std::optional<RingGeometry> claim_rings(const Placement& placement, const RingChoice& choice);

/// Bytes of the messages that rings are made for: those to simulate, or epoch buffers at their usual longest. Nothing
/// while both are unknown.
std::optional<std::uint64_t> message_bytes(const PlanRequest& request, std::uint64_t epochs_per_slice);

/// Bytes of an epoch buffer: the data of one source for one slice, with an epoch before and one after it (the default
/// overlap). Nothing while the rate is unknown.
std::optional<double> buffer_bytes(const PlanRequest& request, std::uint64_t epochs_per_slice);

struct Plan {
  /// Throws UserError when even the smallest rings do not fit into the memory of a node.
  explicit Plan(const PlanRequest& request);

  PlanRequest request;
  Placement placement;
  RingChoice wanted;               ///< before --memory-per-node is applied
  RingChoice choice;               ///< the proposed choice
  std::vector<RankMemory> memory;  ///< by rank

  /// Of the schedule's slots; 0: it has none.
  [[nodiscard]] std::uint64_t slot_ns() const { return request.simulated ? request.simulated->slot_ns : 0; }
  [[nodiscard]] bool reduced() const { return choice != wanted; }
  /// The maximum over all nodes, bytes.
  [[nodiscard]] std::uint64_t most_of_a_node() const;
  /// By node, bytes.
  [[nodiscard]] std::vector<std::uint64_t> node_bytes() const;
  /// The maximum number of rings that end on one rank.
  [[nodiscard]] std::uint64_t rings_of_a_rank() const;
};

}  // namespace eventloom
