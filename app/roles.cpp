#include "app/roles.hpp"

#include <set>

namespace eventloom {

std::vector<int> Roles::source_ranks() const {
  std::set<int> ranks_with_source;
  for (std::uint32_t s = 0; s < sources; ++s) ranks_with_source.insert(rank_of_role(s));
  return {ranks_with_source.begin(), ranks_with_source.end()};
}

RingMap::RingMap(const Roles& roles, RingGeometry geometry)
    : to_builder(roles.builders), to_filter(roles.filters), window_bytes(static_cast<std::size_t>(roles.ranks)) {
  const auto reserve = [&](int rank, std::uint64_t bytes) {
    auto& used = window_bytes[static_cast<std::size_t>(rank)];
    const auto at = used;
    used += (bytes + 63) / 64 * 64;
    return at;
  };
  const auto link = [&](int sender, int receiver) {
    RingLink out{sender, receiver, 0, 0};
    out.ring_offset = reserve(receiver, geometry.ring_bytes());
    out.credit_offset = reserve(sender, sizeof(CreditBlock));
    return out;
  };
  for (std::uint32_t b = 0; b < roles.builders; ++b) {
    for (const int sender : roles.source_ranks()) to_builder[b].push_back(link(sender, roles.rank_of(BuilderId{b})));
  }
  for (std::uint32_t f = 0; f < roles.filters; ++f) {
    for (std::uint32_t b = 0; b < roles.builders; ++b) {
      to_filter[f].push_back(link(roles.rank_of(BuilderId{b}), roles.rank_of(FilterId{f})));
    }
  }
}

}  // namespace eventloom
