#include "schedulers/round_robin.hpp"

#include <limits>

namespace eventloom {

std::uint64_t RoundRobin::slot_of(SourceId source, SliceId slice) const {
  const std::uint64_t b = n_builders();
  return slice.value / b * b + (slice.value % b + b - source.value % b) % b;
}

std::optional<BuilderId> RoundRobin::choose(const SourceView& view) const {
  std::optional<BuilderId> due;
  std::uint64_t first_slot = std::numeric_limits<std::uint64_t>::max();
  for (std::uint32_t b = 0; b < n_builders(); ++b) {
    if (view.next[b] >= view.end) continue;
    const std::uint64_t slot = slot_of(view.source, view.next[b]);
    if (slot >= first_slot) continue;
    first_slot = slot;
    due = BuilderId{b};
  }
  if (due && view.ready[due->value] == 0) return std::nullopt;
  return due;
}

}  // namespace eventloom
