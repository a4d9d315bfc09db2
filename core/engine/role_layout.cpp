#include "core/engine/role_layout.hpp"

#include <set>

namespace eventloom {

namespace {

/// Adds the ranks that play any of the `n` roles of a kind.
template <class RoleId>
void add_ranks(const Roles& roles, std::uint32_t n, std::set<int>& ranks) {
  for (std::uint32_t i = 0; i < n; ++i) {
    const RoleId id{static_cast<decltype(RoleId{}.value)>(i)};
    ranks.insert(roles.rank_of(id));
  }
}

std::vector<int> listed(const std::set<int>& ranks) { return {ranks.begin(), ranks.end()}; }

/// `windows`: their bytes, by rank.
std::uint64_t reserve(std::vector<std::uint64_t>& windows, int rank, std::uint64_t bytes) {
  auto& used = windows[static_cast<std::size_t>(rank)];
  const auto at = used;
  used += (bytes + 63) / 64 * 64;
  return at;
}

void place_cells(std::vector<RingLink>& links, const RingGeometry& geometry, std::vector<std::uint64_t>& windows) {
  for (auto& link : links) link.cells_offset = reserve(windows, link.receiver, geometry.cells_bytes());
}

}  // namespace

std::vector<int> Roles::source_ranks() const {
  std::set<int> distinct;
  add_ranks<SourceId>(*this, sources, distinct);
  return listed(distinct);
}

std::vector<int> Roles::builder_ranks() const {
  std::set<int> distinct;
  add_ranks<BuilderId>(*this, builders, distinct);
  return listed(distinct);
}

bool Roles::others_can_build() const { return exchange_ranks().size() >= 2 * source_ranks().size(); }

std::vector<int> Roles::exchange_ranks() const {
  std::set<int> distinct;
  add_ranks<SourceId>(*this, sources, distinct);
  add_ranks<BuilderId>(*this, builders, distinct);
  return listed(distinct);
}

RingMap::RingMap(const Roles& roles, RingGeometry geometry, std::optional<RingGeometry> notes)
    : to_builder(roles.builders),
      to_filter(roles.filters),
      window_bytes(static_cast<std::size_t>(roles.ranks)),
      control_bytes(static_cast<std::size_t>(roles.ranks)) {
  const auto link = [&](int sender, int receiver, const RingGeometry& of, std::vector<std::uint64_t>& windows) {
    RingLink out{sender, receiver, 0, 0, 0};
    out.ring_offset = reserve(windows, receiver, of.descriptor_bytes());
    out.credit_offset = reserve(control_bytes, sender, kCreditBytes);
    return out;
  };
  const auto senders = roles.source_ranks();
  for (std::uint32_t b = 0; b < roles.builders; ++b) {
    to_builder[b].reserve(senders.size());
    for (const int sender : senders)
      to_builder[b].push_back(link(sender, roles.rank_of(BuilderId{b}), geometry, window_bytes));
  }
  for (std::uint32_t f = 0; f < roles.filters; ++f) {
    for (std::uint32_t b = 0; b < roles.builders; ++b) {
      to_filter[f].push_back(link(roles.rank_of(BuilderId{b}), roles.rank_of(FilterId{f}), geometry, window_bytes));
    }
  }
  if (notes) {
    for (const int rank : roles.builder_ranks())
      to_assigner.push_back(link(rank, roles.assigner_rank(), *notes, control_bytes));
    for (const int rank : roles.exchange_ranks())
      from_assigner.push_back(link(roles.assigner_rank(), rank, *notes, control_bytes));
  }
  for (auto& links : to_builder) place_cells(links, geometry, window_bytes);
  for (auto& links : to_filter) place_cells(links, geometry, window_bytes);
  if (!notes) return;
  place_cells(to_assigner, *notes, control_bytes);
  place_cells(from_assigner, *notes, control_bytes);
}

void RingMap::keep_to_builders(int rank) {
  for (auto& links : to_builder) {
    std::erase_if(links, [rank](const RingLink& link) { return link.sender != rank && link.receiver != rank; });
    links.shrink_to_fit();
  }
}

}  // namespace eventloom
