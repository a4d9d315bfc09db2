#include "core/engine/ring_sizes.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "core/exchange/outbox.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kLine = 64;

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? kMost : out;
}
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? kMost : out;
}

std::uint64_t bytes_of(const RingEnds& ends, const RingGeometry& geometry) {
  const std::uint64_t ring = (geometry.ring_bytes() + kLine - 1) / kLine * kLine;
  return sum(product(ends.in, ring), product(ends.out, kCreditBytes));
}

/// The number of builders, or filters, on each rank.
template <class RoleId>
std::vector<std::uint64_t> count_by_rank(const Roles& roles, std::uint32_t n) {
  std::vector<std::uint64_t> by_rank(static_cast<std::size_t>(roles.ranks));
  for (std::uint32_t i = 0; i < n; ++i) ++by_rank[static_cast<std::size_t>(roles.rank_of(RoleId{i}))];
  return by_rank;
}

void add_claim_rings(std::vector<std::uint64_t>& bytes, const Roles& roles, const RingGeometry& notes) {
  const auto at = [&](int rank) -> std::uint64_t& { return bytes[static_cast<std::size_t>(rank)]; };
  RingEnds assigner;
  for (const int rank : roles.builder_ranks()) {
    at(rank) = sum(at(rank), bytes_of({0, 1}, notes));
    ++assigner.in;
  }
  for (const int rank : roles.exchange_ranks()) {
    at(rank) = sum(at(rank), bytes_of({1, 0}, notes));
    ++assigner.out;
  }
  at(roles.assigner_rank()) = sum(at(roles.assigner_rank()), bytes_of(assigner, notes));
}

/// Identifies the ranks that share a bound: host, name of the bound, and for a per-process bound the rank.
using Shared = std::tuple<std::string, std::string, std::size_t>;

struct Sum {
  std::uint64_t needed = 0;
  std::uint64_t available = kMost;
  bool of_process = false;
};

/// UCX 1.13 maps the shared memory of every other rank on the host twice, and crashes if it cannot.
std::uint64_t address_space(std::uint64_t own, std::uint64_t host) { return sum(own, product(2, host - own)); }

std::map<Shared, Sum> sums_of(const std::vector<MemoryNeed>& ranks) {
  std::map<std::string, std::uint64_t> hosts;
  for (const auto& rank : ranks) hosts[rank.host] = sum(hosts[rank.host], rank.bytes);
  std::map<Shared, Sum> sums;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (const auto& bound : ranks[r].bounds) {
      auto& of = sums[{ranks[r].host, bound.what, bound.of_process ? r : 0}];
      of.needed =
          bound.of_process ? address_space(ranks[r].bytes, hosts[ranks[r].host]) : sum(of.needed, ranks[r].bytes);
      of.available = std::min(of.available, bound.bytes);
      of.of_process = bound.of_process;
    }
  }
  return sums;
}

}  // namespace

std::vector<RingEnds> data_rings(const Roles& roles) {
  const auto builders = count_by_rank<BuilderId>(roles, roles.builders);
  const auto filters = count_by_rank<FilterId>(roles, roles.filters);
  const auto senders = roles.source_ranks();
  std::vector<RingEnds> ends(builders.size());
  for (std::size_t r = 0; r < ends.size(); ++r) {
    ends[r].in = sum(product(builders[r], senders.size()), product(filters[r], roles.builders));
    ends[r].out = product(builders[r], roles.filters);
  }
  for (const int rank : senders) {
    auto& out = ends[static_cast<std::size_t>(rank)].out;
    out = sum(out, roles.builders);
  }
  return ends;
}

std::vector<std::uint64_t> window_bytes(const Roles& roles, const RingGeometry& geometry,
                                        const std::optional<RingGeometry>& notes) {
  std::vector<std::uint64_t> bytes;
  for (const auto& ends : data_rings(roles)) bytes.push_back(bytes_of(ends, geometry));
  if (notes) add_claim_rings(bytes, roles, *notes);
  return bytes;
}

std::vector<std::uint64_t> exchange_bytes(const Roles& roles, const RingGeometry& geometry,
                                          const std::optional<RingGeometry>& notes) {
  // A sender keeps the descriptors of one round and copies of small pieces; a rank lists its own rings.
  const std::uint64_t sender = std::uint64_t{geometry.depth} * sizeof(CellDescriptor) +
                               std::uint64_t{most_staged_cells(geometry)} * geometry.cell_bytes;
  auto bytes = window_bytes(roles, geometry, notes);
  const auto ends = data_rings(roles);
  for (std::size_t r = 0; r < bytes.size(); ++r) {
    bytes[r] =
        sum(sum(bytes[r], product(ends[r].out, sender)), product(sum(ends[r].in, ends[r].out), sizeof(RingLink)));
  }
  return bytes;
}

std::string memory_shortage(const std::vector<MemoryNeed>& ranks) {
  for (const auto& [shared, of] : sums_of(ranks)) {
    if (of.needed <= of.available) continue;
    return "the rings of the ranks on host " + std::get<0>(shared) + " need " + in_mebibytes(of.needed) +
           (of.of_process ? " in the address space of each" : "") + ", but only " + in_mebibytes(of.available) +
           " are " + std::get<1>(shared);
  }
  return "";
}

}  // namespace eventloom
