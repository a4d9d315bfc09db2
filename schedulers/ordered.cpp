#include "schedulers/ordered.hpp"

namespace eventloom {

std::optional<BuilderId> Ordered::choose(const SourceView& view) const {
  std::optional<BuilderId> due;
  std::uint64_t first_slot = std::numeric_limits<std::uint64_t>::max();
  for (std::uint32_t b = 0; b < view.next.size(); ++b) {
    if (view.next[b] >= view.end) continue;
    const std::uint64_t slot = slot_of(view.source, view.next[b]);
    if (slot >= first_slot) continue;
    first_slot = slot;
    due = BuilderId{b};
  }
  if (due && !view.ready(*due)) return std::nullopt;
  return due;
}

}  // namespace eventloom
