#include "core/engine/role_layout.hpp"

#include <algorithm>
#include <set>
#include <span>

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

std::uint64_t in_lines(std::uint64_t bytes) { return (bytes + 63) / 64 * 64; }

std::vector<int> listed(const std::set<int>& ranks) { return {ranks.begin(), ranks.end()}; }

/// Reserves `n` consecutive blocks, each aligned to a cache line. `windows`: bytes used so far, by rank.
std::uint64_t reserve(std::vector<std::uint64_t>& windows, int rank, std::uint64_t bytes, std::uint64_t n = 1) {
  auto& used = windows[static_cast<std::size_t>(rank)];
  const auto at = used;
  used += n * in_lines(bytes);
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

std::vector<int> Roles::writer_ranks() const {
  if (filters == 0) return builder_ranks();
  std::set<int> distinct;
  add_ranks<FilterId>(*this, filters, distinct);
  return listed(distinct);
}

bool Roles::others_can_build() const { return exchange_ranks().size() >= 2 * source_ranks().size(); }

std::vector<int> Roles::exchange_ranks() const {
  std::set<int> distinct;
  add_ranks<SourceId>(*this, sources, distinct);
  add_ranks<BuilderId>(*this, builders, distinct);
  return listed(distinct);
}

RingMap::RingMap(const Roles& roles, RingGeometry geometry, std::optional<RingGeometry> notes, std::optional<int> own)
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
  place_to_builders(roles, geometry, own);
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
  place_cells_to_builders(roles, geometry);
  for (auto& links : to_filter) place_cells(links, geometry, window_bytes);
  if (!notes) return;
  place_cells(to_assigner, *notes, control_bytes);
  place_cells(from_assigner, *notes, control_bytes);
}

/// Places the rings of all senders side by side in the builder's window; a builder's credits have the same place in the
/// control windows of all senders.
void RingMap::place_to_builders(const Roles& roles, const RingGeometry& geometry, std::optional<int> own) {
  const auto senders = roles.source_ranks();
  for (std::uint32_t b = 0; b < roles.builders; ++b) {
    const int receiver = roles.rank_of(BuilderId{b});
    const auto ring = reserve(window_bytes, receiver, geometry.descriptor_bytes(), senders.size());
    std::span<const int> mine(senders);
    if (own && receiver != *own) {
      const auto [first, last] = std::equal_range(senders.begin(), senders.end(), *own);
      mine = std::span(first, last);
    }
    for (const auto& sender : mine) {
      const auto s = static_cast<std::uint64_t>(&sender - senders.data());
      to_builder[b].push_back(
          {sender, receiver, ring + s * in_lines(geometry.descriptor_bytes()), 0, b * in_lines(kCreditBytes)});
    }
  }
  for (const int sender : senders) reserve(control_bytes, sender, kCreditBytes, roles.builders);
}

void RingMap::place_cells_to_builders(const Roles& roles, const RingGeometry& geometry) {
  const auto senders = roles.source_ranks();
  for (std::uint32_t b = 0; b < roles.builders; ++b) {
    const auto cells = reserve(window_bytes, roles.rank_of(BuilderId{b}), geometry.cells_bytes(), senders.size());
    for (auto& link : to_builder[b]) {
      const auto s = std::ranges::lower_bound(senders, link.sender) - senders.begin();
      link.cells_offset = cells + static_cast<std::uint64_t>(s) * in_lines(geometry.cells_bytes());
    }
  }
}

}  // namespace eventloom
