#include "app/roles.hpp"

#include <set>

namespace eventloom {

std::vector<int> Roles::ranks_of_roles(std::uint32_t from, std::uint32_t to) const {
  std::set<int> distinct;
  for (std::uint32_t role = from; role < to; ++role) distinct.insert(rank_of_role(role));
  return {distinct.begin(), distinct.end()};
}

std::vector<int> Roles::source_ranks() const { return ranks_of_roles(0, sources); }
std::vector<int> Roles::builder_ranks() const { return ranks_of_roles(sources, sources + builders); }
std::vector<int> Roles::exchange_ranks() const { return ranks_of_roles(0, sources + builders); }

RingMap::RingMap(const Roles& roles, RingGeometry geometry, std::optional<RingGeometry> notes)
    : to_builder(roles.builders), to_filter(roles.filters), window_bytes(static_cast<std::size_t>(roles.ranks)) {
  const auto reserve = [&](int rank, std::uint64_t bytes) {
    auto& used = window_bytes[static_cast<std::size_t>(rank)];
    const auto at = used;
    used += (bytes + 63) / 64 * 64;
    return at;
  };
  const auto link = [&](int sender, int receiver, const RingGeometry& of) {
    RingLink out{sender, receiver, 0, 0};
    out.ring_offset = reserve(receiver, of.ring_bytes());
    out.credit_offset = reserve(sender, sizeof(CreditBlock));
    return out;
  };
  for (std::uint32_t b = 0; b < roles.builders; ++b) {
    for (const int sender : roles.source_ranks())
      to_builder[b].push_back(link(sender, roles.rank_of(BuilderId{b}), geometry));
  }
  for (std::uint32_t f = 0; f < roles.filters; ++f) {
    for (std::uint32_t b = 0; b < roles.builders; ++b) {
      to_filter[f].push_back(link(roles.rank_of(BuilderId{b}), roles.rank_of(FilterId{f}), geometry));
    }
  }
  if (!notes) return;
  for (const int rank : roles.builder_ranks()) to_assigner.push_back(link(rank, roles.assigner_rank(), *notes));
  for (const int rank : roles.exchange_ranks()) from_assigner.push_back(link(roles.assigner_rank(), rank, *notes));
}

}  // namespace eventloom
