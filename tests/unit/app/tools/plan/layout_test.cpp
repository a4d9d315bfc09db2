#include "app/tools/plan/layout.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/runtime/error.hpp"
#include "tests/unit/app/tools/plan/requests.hpp"

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
      const RingMap rings(plan.placement.roles, plan.choice.ring.geometry(), claim_rings(plan.placement, plan.choice));
      ASSERT_EQ(plan.memory.size(), rings.window_bytes.size()) << text_of(request);
      for (std::size_t r = 0; r < plan.memory.size(); ++r) {
        ASSERT_EQ(plan.memory[r].rings, rings.window_bytes[r] + rings.control_bytes[r])
            << text_of(request) << ", rank " << r;
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

TEST(PlanLayout, OneRingFitsTheSecondLevelCacheOrHoldsTwoMessages) {
  for (auto request : many_requests()) {
    for (const std::uint64_t cache : {64U * 1024, 256U * 1024, 1024U * 1024, 4096U * 1024}) {
      request.l2_cache = cache;
      const Plan plan(request);
      const auto message = message_bytes(request, plan.choice.epochs_per_slice).value_or(kUnknownMessage);
      EXPECT_GE(plan.choice.ring.messages(message), 2U) << text_of(request);
      if (plan.choice.ring.messages(message) <= 3) continue;
      EXPECT_LE(plan.choice.ring.bytes(), cache) << text_of(request);
    }
  }
}

TEST(PlanLayout, RingsAreThoseOfTheRule) {
  for (auto request : many_requests()) {
    const Plan plan(request);
    const RingNeeds needs{.message_bytes = message_bytes(request, plan.choice.epochs_per_slice),
                          .rings = plan.rings_of_a_rank()};
    EXPECT_EQ(plan.choice.ring, ring_size(needs)) << text_of(request);
  }
}

TEST(PlanLayout, RingsHoldTheMessagesToSimulate) {
  auto request = cluster();
  request.message_bytes = 3 * kMiB;
  EXPECT_GE(Plan(request).choice.ring.messages(3 * kMiB), 2U);
  request.hits_per_second = 1e4;
  EXPECT_GE(Plan(request).choice.ring.messages(3 * kMiB), 2U);
}

TEST(PlanLayout, MemoryCostsSlicesInFlightBeforeWholeMessages) {
  auto request = cluster();
  request.hits_per_second = 2e8;  // 1.7 MB an epoch buffer of 102 epochs
  request.epochs_per_slice = 100;
  const Plan free(request);
  const auto message = *message_bytes(request, 100);
  ASSERT_GE(free.choice.ring.messages(message), 2U);
  for (auto bound = free.most_of_a_node(); bound > free.most_of_a_node() / 4; bound = bound * 9 / 10) {
    request.memory_per_node = bound;
    try {
      const Plan plan(request);
      EXPECT_TRUE(plan.choice.ring.messages(message) >= 2 || plan.choice.slices_in_flight <= 2) << bound;
    } catch (const UserError&) {
      break;
    }
  }
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
