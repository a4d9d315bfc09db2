#include "core/engine/ring_sizes.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/engine/wiring.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

MemoryNeed need(const std::string& host, std::uint64_t bytes, std::vector<MemoryBound> bounds) {
  return {host, bytes, std::move(bounds)};
}

}  // namespace

TEST(RingSizes, EqualThoseOfTheMap) {
  const RingGeometry geometry{.depth = 5, .cell_bytes = 4096 + 8};
  const RingGeometry notes{.depth = 3, .cell_bytes = 192};
  for (const int ranks : {1, 2, 3, 7, 12}) {
    for (const std::uint32_t filters : {0U, 2U, 9U}) {
      Roles roles{.sources = 4, .builders = 3, .filters = filters, .ranks = ranks};
      roles.homes = {0, 1, 1, 3};
      for (const auto& of : {std::optional<RingGeometry>(), std::optional(notes)}) {
        const RingMap map(roles, geometry, of);
        auto both = map.window_bytes;
        for (std::size_t r = 0; r < both.size(); ++r) both[r] += map.control_bytes[r];
        EXPECT_EQ(window_bytes(roles, geometry, of), both);
      }
    }
  }
}

TEST(RingSizes, AreComputedAtOnceForAnyOptions) {
  const RingGeometry largest{.depth = 65536, .cell_bytes = (1U << 30) + 64};
  const Roles roles{.sources = 65535, .builders = 100'000, .filters = 100'000, .ranks = 2};
  const auto bytes = exchange_bytes(roles, largest, largest);
  EXPECT_EQ(bytes[0], kMost);
  EXPECT_EQ(bytes[1], kMost);
  const auto usual = exchange_bytes({.sources = 2, .builders = 100'000, .filters = 0, .ranks = 1}, {}, std::nullopt);
  EXPECT_GT(usual[0], 48 * kGiB);
  EXPECT_LT(usual[0], 120 * kGiB);
}

TEST(RingSizes, ClaimsOfManyBuildersNeedLittleMemory) {
  const std::uint32_t builders = 1000;
  const auto notes = claim_note_geometry(claim_ahead(4, builders), builders);
  const Roles roles{.sources = 100, .builders = builders, .filters = 0, .ranks = 1000};
  const auto bytes = window_bytes(roles, {1, 256}, notes);
  EXPECT_LT(bytes[static_cast<std::size_t>(roles.assigner_rank())], std::uint64_t{128} << 20);
}

TEST(RingSizes, MemoryIsSharedByTheRanksOfAHost) {
  const MemoryBound host{"available on the host", 4 * kGiB};
  EXPECT_EQ(memory_shortage({need("a", 2 * kGiB, {host}), need("a", 2 * kGiB, {host})}), "");
  EXPECT_EQ(memory_shortage({need("a", 3 * kGiB, {host}), need("b", 3 * kGiB, {host})}), "");
  const auto shortage =
      memory_shortage({need("a", 2 * kGiB, {host}), need("b", 3 * kGiB, {host}), need("b", 2 * kGiB, {host})});
  EXPECT_EQ(shortage, "the rings of the ranks on host b need 5120 MiB, but only 4096 MiB are available on the host");
  EXPECT_NE(memory_shortage({need("a", kMost, {host}), need("a", kMost, {host})}), "");
}

TEST(RingSizes, ACgroupBoundsItsOwnRanksAndALimitOfTheProcessOne) {
  const MemoryBound one{"left by the memory limit of the cgroup /one", 2 * kGiB};
  const MemoryBound other{"left by the memory limit of the cgroup /other", 2 * kGiB};
  EXPECT_EQ(memory_shortage({need("a", 2 * kGiB, {one}), need("a", 2 * kGiB, {other})}), "");
  EXPECT_NE(memory_shortage({need("a", 2 * kGiB, {one}), need("a", 1, {one})}), "");
  const MemoryBound process{"allowed by ulimit -v", kGiB, true};
  EXPECT_EQ(memory_shortage({need("a", kGiB, {process}), need("b", kGiB, {process})}), "");
  EXPECT_EQ(memory_shortage({need("a", kGiB / 2, {process}), need("a", kGiB / 2, {process})}),
            "the rings of the ranks on host a need 1536 MiB in the address space of each, but only 1024 MiB are "
            "allowed by ulimit -v");
}

}  // namespace eventloom
