#include "schedulers/first_ready.hpp"

namespace eventloom {

std::optional<BuilderId> first_ready(const SourceView& view) {
  const std::uint64_t n = view.next.size();
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto b = static_cast<std::uint32_t>((view.start + i) % n);
    if (view.next[b] < view.end && view.ready({b})) return BuilderId{b};
  }
  return std::nullopt;
}

}  // namespace eventloom
