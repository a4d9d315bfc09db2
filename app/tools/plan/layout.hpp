#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/tools/plan/placement.hpp"
#include "core/engine/ring_rule.hpp"

/// The proposal of `eventloom plan`: placement, rings, slices and the memory they take.
namespace eventloom {

/// Values of the options of `eventloom run`.
struct RingChoice {
  RingSize ring;
  std::uint32_t slices_in_flight = 4;
  std::uint64_t epochs_per_slice = 100;

  bool operator==(const RingChoice&) const = default;
};

/// Memory of one rank in bytes. The size of the rings is exact; the rest is estimated from measurements.
struct RankMemory {
  std::uint64_t rings = 0;   ///< window of the rank
  std::uint64_t slices = 0;  ///< slices received, being built or read ahead; 0 if the rate is unknown
  std::uint64_t output = 0;  ///< one chunk per column
  std::uint64_t program = 0;

  [[nodiscard]] std::uint64_t total() const { return rings + slices + output + program; }
};

/// Geometry of the rings between the assigner and the other ranks if builders claim slices ("balanced"), as in Wiring;
/// otherwise std::nullopt.
std::optional<RingGeometry> claim_rings(const Placement& placement, const RingChoice& choice);

/// Size in bytes of the messages for which rings are sized: the messages to simulate, or epoch buffers at their usual
/// longest. std::nullopt if both are unknown.
std::optional<std::uint64_t> message_bytes(const PlanRequest& request, std::uint64_t epochs_per_slice);

/// Size in bytes of an epoch buffer: the data of one source for one slice, plus one epoch before and one after it (the
/// default overlap). std::nullopt if the rate is unknown.
std::optional<double> buffer_bytes(const PlanRequest& request, std::uint64_t epochs_per_slice);

struct Plan {
  /// Throws UserError if even the smallest rings do not fit into the memory of a node.
  explicit Plan(const PlanRequest& request);

  PlanRequest request;
  Placement placement;
  RingChoice wanted;               ///< choice before --memory-per-node is applied
  RingChoice choice;               ///< the proposed choice
  std::vector<RankMemory> memory;  ///< one per rank

  /// Length of the schedule's slots; 0: it has none.
  [[nodiscard]] std::uint64_t slot_ns() const { return request.simulated ? request.simulated->slot_ns : 0; }
  [[nodiscard]] bool reduced() const { return choice != wanted; }
  /// Maximum over all nodes, in bytes.
  [[nodiscard]] std::uint64_t most_of_a_node() const;
  /// Bytes, one value per node.
  [[nodiscard]] std::vector<std::uint64_t> node_bytes() const;
  /// Maximum number of rings that end on one rank.
  [[nodiscard]] std::uint64_t rings_of_a_rank() const;
};

}  // namespace eventloom
