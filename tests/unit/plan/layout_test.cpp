#include "app/plan/layout.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/runtime/error.hpp"
#include "tests/unit/plan/requests.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

PlanRequest cluster() {
  PlanRequest request;
  request.nodes = 4;
  request.cores_per_node = 64;
  request.sources = 32;
  return request;
}

}  // namespace

TEST(PlanLayout, RingMemoryIsThatOfTheRun) {
  for (auto request : many_requests()) {
    if (request.sources > 100) continue;  // the run's list of all rings is long
    for (const std::uint64_t cache : {64U * 1024, 2048U * 1024}) {
      request.l2_cache = cache;
      const Plan plan(request);
      const RingMap rings(plan.placement.roles, plan.choice.geometry(), claim_rings(plan.placement, plan.choice));
      ASSERT_EQ(plan.memory.size(), rings.window_bytes.size()) << text_of(request);
      for (std::size_t r = 0; r < plan.memory.size(); ++r) {
        ASSERT_EQ(plan.memory[r].rings, rings.window_bytes[r]) << text_of(request) << ", rank " << r;
      }
    }
  }
}

TEST(PlanLayout, BuildersThatClaimHaveRingsForIt) {
  auto request = cluster();
  request.cores_per_node = 12;
  const Plan claiming(request);
  EXPECT_EQ(claiming.placement.schedule, "balanced");
  EXPECT_TRUE(claim_rings(claiming.placement, claiming.choice).has_value());
  EXPECT_FALSE(claim_rings(Plan(cluster()).placement, claiming.choice).has_value());
  request.simulated = SimulatedSchedule{.name = "chaotic"};
  EXPECT_FALSE(claim_rings(Plan(request).placement, claiming.choice).has_value());
}

TEST(PlanLayout, NodesHoldWhatTheirRanksHold) {
  const Plan plan(cluster());
  std::uint64_t sum = 0;
  for (const auto& rank : plan.memory) sum += rank.total();
  std::uint64_t nodes = 0;
  for (const auto bytes : plan.node_bytes()) nodes += bytes;
  EXPECT_EQ(nodes, sum);
  EXPECT_EQ(plan.node_bytes().size(), 4U);
  EXPECT_GE(plan.most_of_a_node(), sum / 4);
}

TEST(PlanLayout, OneRingFitsTheSecondLevelCache) {
  for (auto request : many_requests()) {
    for (const std::uint64_t cache : {64U * 1024, 256U * 1024, 1024U * 1024, 4096U * 1024}) {
      request.l2_cache = cache;
      EXPECT_LE(Plan(request).choice.geometry().ring_bytes(), cache) << text_of(request);
    }
  }
}

TEST(PlanLayout, AFewRingsKeepTheDefaultsAndManyGetFewerCells) {
  auto request = cluster();
  EXPECT_EQ(Plan(request).choice.depth, 4U);
  EXPECT_EQ(Plan(request).choice.cell_size, 64U * 1024);
  request.nodes = 1;
  request.cores_per_node = 4;
  request.sources = 2;
  EXPECT_EQ(Plan(request).choice.depth, 8U);
}

TEST(PlanLayout, MemoryOfANodeIsKept) {
  for (auto request : many_requests()) {
    const auto free = Plan(request).most_of_a_node();
    for (const std::uint64_t bound : {free, free - kMiB, free * 3 / 4}) {
      request.memory_per_node = bound;
      try {
        const Plan plan(request);
        EXPECT_LE(plan.most_of_a_node(), bound) << text_of(request);
        EXPECT_EQ(plan.reduced(), bound != free) << text_of(request);
      } catch (const UserError& e) {
        EXPECT_NE(bound, free) << text_of(request);
        EXPECT_NE(std::string(e.what()).find("--memory-per-node"), std::string::npos);
      }
    }
  }
}

TEST(PlanLayout, RefusalNamesWhatWouldDo) {
  auto request = cluster();
  request.memory_per_node = 64 * kMiB;
  std::string said;
  try {
    const Plan plan(request);
  } catch (const UserError& e) {
    said = e.what();
  }
  const auto at = said.find("needs ");
  ASSERT_NE(at, std::string::npos) << said;
  request.memory_per_node = std::stoull(said.substr(at + 6)) * kMiB;
  EXPECT_LE(Plan(request).most_of_a_node(), *request.memory_per_node);
}

TEST(PlanLayout, SlicesAreLongEnoughForTheirEpochBuffers) {
  auto request = cluster();
  EXPECT_EQ(Plan(request).choice.epochs_per_slice, 100U);
  for (const double rate : {1e3, 1e5, 1e6, 1e7, 1e8}) {
    request.hits_per_second = rate;
    const Plan plan(request);
    const auto bytes = *buffer_bytes(request, plan.choice.epochs_per_slice);
    if (rate == 1e6 || rate == 1e7) {
      EXPECT_GE(bytes, 16 * 1024) << rate;
      EXPECT_LE(bytes, 64 * 1024) << rate;
    }
    EXPECT_LE(plan.choice.epochs_per_slice * request.epoch_ps, 1'000'000'000'000U) << rate;
    EXPECT_GT(plan.memory.front().slices, 0U) << rate;
  }
  request.epochs_per_slice = 7;
  EXPECT_EQ(Plan(request).choice.epochs_per_slice, 7U);
}

TEST(PlanLayout, EpochBufferHoldsTheOverlapToo) {
  PlanRequest request;
  request.hits_per_second = 1e6;  // 10 in an epoch of 10 us
  request.hit_bytes = 12;
  EXPECT_DOUBLE_EQ(*buffer_bytes(request, 100), 102 * 10 * 12);
  request.hits_per_second.reset();
  EXPECT_FALSE(buffer_bytes(request, 100).has_value());
}

}  // namespace eventloom
