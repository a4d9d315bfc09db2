#include "app/tools/plan/layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/engine/ring_sizes.hpp"
#include "core/engine/wiring.hpp"
#include "core/runtime/error.hpp"
#include "io/recorded/default_epoch.hpp"
#include "io/run_format/layout.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = kKiB * kKiB;

/// Program, MPI, UCX and HDF5: a rank of a whole run on two ranks peaked at 62 MB.
constexpr std::uint64_t kProgram = 60 * kMiB;

/// Memory per hit while its slice is built: decoded, sorted, and in the output columns, 16 bytes each.
constexpr double kBuildingBytes = 48;

/// With epoch buffers of this size a network reaches most of its rate.
constexpr double kWantedBuffer = 32 * kKiB;

/// Returns the number of epochs per slice, at most one second long, whose epoch buffer comes closest to
/// the wanted size.
std::uint64_t chosen_epochs(const PlanRequest& request) {
  constexpr std::array<std::uint64_t, 9> kChoices = {20, 50, 100, 200, 500, 1000, 2000, 5000, 10'000};
  constexpr std::uint64_t kSecond = 1'000'000'000'000;
  if (request.epochs_per_slice) return *request.epochs_per_slice;
  if (!request.hits_per_second) return default_epochs_per_slice(request.epoch_ps);
  const auto distance = [&](std::uint64_t epochs) {
    return std::abs(std::log(*buffer_bytes(request, epochs) / kWantedBuffer));
  };
  std::uint64_t best = kChoices.front();
  for (const auto epochs : kChoices) {
    if (epochs * request.epoch_ps <= kSecond && distance(epochs) < distance(best)) best = epochs;
  }
  return best;
}

std::uint64_t most_rings(const Roles& roles) {
  std::uint64_t most = 0;
  for (const auto& ends : data_rings(roles)) most = std::max(most, ends.in);
  return most;
}

RingChoice wanted_choice(const PlanRequest& request, const Placement& placement) {
  RingChoice choice;
  choice.epochs_per_slice = chosen_epochs(request);
  choice.ring = ring_size({.message_bytes = message_bytes(request, choice.epochs_per_slice),
                           .rings = most_rings(placement.roles),
                           .l2_cache = request.l2_cache});
  return choice;
}

std::uint64_t slice_bytes(const RankRoles& rank, const Plan& plan) {
  const auto one = buffer_bytes(plan.request, plan.choice.epochs_per_slice);
  if (!one) return 0;
  const auto& roles = plan.placement.roles;
  const double slice = *one * roles.sources;
  const double building = slice / plan.request.hit_bytes * kBuildingBytes;
  const double ahead = *one * plan.choice.slices_in_flight * roles.builders;
  return static_cast<std::uint64_t>(static_cast<double>(rank.sources.size()) * ahead +
                                    static_cast<double>(rank.builders.size()) *
                                        (slice * plan.choice.slices_in_flight + building));
}

/// Memory of the columns, whose chunks the writers fill in parallel.
std::uint64_t output_bytes(std::size_t writers) {
  constexpr std::size_t kOffsetsAndPayload = 3;
  const auto columns = event_columns().size() + hit_columns().size() + ledger_columns().size() + kOffsetsAndPayload;
  return writers * columns * kDefaultChunkBytes;
}

std::vector<RankMemory> memory_of(const Plan& plan) {
  const auto windows =
      window_bytes(plan.placement.roles, plan.choice.ring.geometry(), claim_rings(plan.placement, plan.choice));
  const auto ranks = roles_by_rank(plan.placement.roles);
  std::vector<RankMemory> memory;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const auto writers = plan.placement.roles.filters == 0 ? ranks[r].builders.size() : ranks[r].filters.size();
    memory.push_back({windows[r], slice_bytes(ranks[r], plan), output_bytes(writers), kProgram});
  }
  return memory;
}

/// Reduces `choice` by one step; returns false if it is already the smallest. Steps that do not cost speed come first;
/// the most expensive comes last: rings that hold fewer than two messages.
bool shrink(RingChoice& choice, std::uint64_t message) {
  constexpr std::uint64_t kUsefulMessages = 2;
  auto ring = choice.ring;
  const bool smaller = shrink(ring, message);
  if (smaller && ring.messages(message) >= kUsefulMessages) return choice.ring = ring, true;
  if (choice.slices_in_flight > 2) return choice.slices_in_flight = 2, true;
  if (smaller) return choice.ring = ring, true;
  if (choice.slices_in_flight > 1) return choice.slices_in_flight = 1, true;
  return false;
}

}  // namespace

std::optional<RingGeometry> claim_rings(const Placement& placement, const RingChoice& choice) {
  if (placement.schedule != "balanced") return std::nullopt;
  const auto builders = placement.roles.builders;
  return claim_note_geometry(claim_ahead(choice.slices_in_flight, builders), builders);
}

std::optional<std::uint64_t> message_bytes(const PlanRequest& request, std::uint64_t epochs_per_slice) {
  if (request.message_bytes) return request.message_bytes;
  const auto bytes = buffer_bytes(request, epochs_per_slice);
  return bytes ? std::optional(usual_longest(*bytes)) : std::nullopt;
}

std::optional<double> buffer_bytes(const PlanRequest& request, std::uint64_t epochs_per_slice) {
  constexpr double kPicosecondsPerSecond = 1e12;
  if (!request.hits_per_second) return std::nullopt;
  const double epochs = static_cast<double>(epochs_per_slice) + 2;
  const double seconds = epochs * static_cast<double>(request.epoch_ps) / kPicosecondsPerSecond;
  return *request.hits_per_second * seconds * request.hit_bytes;
}

Plan::Plan(const PlanRequest& asked)
    : request(asked), placement(asked), wanted(wanted_choice(asked, placement)), choice(wanted) {
  memory = memory_of(*this);
  if (!request.memory_per_node) return;
  const auto message = message_bytes(request, choice.epochs_per_slice).value_or(kUnknownMessage);
  while (most_of_a_node() > *request.memory_per_node) {
    if (!shrink(choice, message)) {
      throw UserError("--memory-per-node: with the smallest rings a node needs " +
                      std::to_string((most_of_a_node() + kMiB - 1) / kMiB) +
                      "MiB; increase it, or reduce --cores-per-node: each core's rank takes " +
                      std::to_string(kProgram / kMiB) + "MiB before its rings");
    }
    memory = memory_of(*this);
  }
}

std::vector<std::uint64_t> Plan::node_bytes() const {
  std::vector<std::uint64_t> nodes(placement.nodes);
  for (std::size_t r = 0; r < memory.size(); ++r) nodes[r % placement.nodes] += memory[r].total();
  return nodes;
}

std::uint64_t Plan::most_of_a_node() const { return std::ranges::max(node_bytes()); }

std::uint64_t Plan::rings_of_a_rank() const { return most_rings(placement.roles); }

}  // namespace eventloom
