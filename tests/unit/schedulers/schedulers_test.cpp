#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "schedulers/scheduler.hpp"

namespace eventloom {
namespace {

struct Transfer {
  std::uint64_t slice;
  std::uint32_t source;
  std::uint32_t builder;
  friend auto operator<=>(const Transfer&, const Transfer&) = default;
};

/// Drives a scheduler for all sources until every one has sent all slices below `end`. `ready`
/// decides at each step whether a builder has a credit for a source's slice.
template <class Ready>
std::vector<Transfer> play(const Scheduler& scheduler, std::uint32_t sources, std::uint32_t builders, std::uint64_t end,
                           Ready ready, std::size_t max_steps = 1'000'000) {
  std::vector<std::vector<SliceId>> next(sources);
  std::vector<std::uint64_t> turn(sources);
  for (auto& n : next) {
    for (std::uint32_t b = 0; b < builders; ++b) n.push_back(scheduler.next_slice({b}, {0}));
  }
  std::vector<Transfer> done;
  for (std::size_t step = 0; step < max_steps && done.size() < sources * end; ++step) {
    const auto s = static_cast<std::uint16_t>(step % sources);
    std::vector<std::uint8_t> credit(builders);
    for (std::uint32_t b = 0; b < builders; ++b) credit[b] = ready(step, s, b, next[s][b]) ? 1 : 0;
    const auto builder = scheduler.choose({{s}, next[s], credit, {end}, turn[s]});
    if (!builder) continue;
    EXPECT_TRUE(credit[builder->value]) << "a builder without credit was chosen";
    const auto slice = next[s][builder->value];
    EXPECT_EQ(scheduler.builder_of(slice), *builder);
    done.push_back({slice.value, s, builder->value});
    next[s][builder->value] = scheduler.next_slice(*builder, {slice.value + 1});
    ++turn[s];
  }
  return done;
}

class EveryScheduler : public testing::TestWithParam<const char*> {};

TEST_P(EveryScheduler, SendsEveryTripleExactlyOnce) {
  for (const auto& [sources, builders] : {std::pair{1U, 1U}, {1U, 4U}, {4U, 1U}, {3U, 4U}, {5U, 3U}, {8U, 8U}}) {
    const auto scheduler = make_scheduler(GetParam(), builders);
    std::mt19937_64 random(sources * 100 + builders);
    const auto done =
        play(*scheduler, sources, builders, 37, [&](auto, auto, auto, auto) { return random() % 3 != 0; });
    const std::set<Transfer> distinct(done.begin(), done.end());
    EXPECT_EQ(done.size(), sources * 37U);
    EXPECT_EQ(distinct.size(), done.size());
    for (const auto& t : distinct) EXPECT_EQ(t.builder, t.slice % builders);
  }
}

TEST_P(EveryScheduler, SendsTheSlicesOfABuilderInRisingOrder) {
  const auto scheduler = make_scheduler(GetParam(), 3);
  const auto done = play(*scheduler, 4, 3, 50, [](auto step, auto, auto b, auto) { return (step / 7 + b) % 3 != 0; });
  ASSERT_EQ(done.size(), 200U);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> last;
  for (const auto& t : done) {
    const auto [at, first] = last.try_emplace({t.source, t.builder}, t.slice);
    if (!first) {
      EXPECT_LT(at->second, t.slice);
    }
    at->second = t.slice;
  }
}

// One builder takes a slice only every 50th step: the others must not wait for it longer than the
// windows of slices allow, and in the end everything is sent.
TEST_P(EveryScheduler, FinishesWithOneSlowBuilder) {
  const auto scheduler = make_scheduler(GetParam(), 4);
  const auto done = play(*scheduler, 4, 4, 80, [](auto step, auto, auto b, auto) { return b != 2 || step % 50 < 4; });
  EXPECT_EQ(done.size(), 320U);
}

TEST_P(EveryScheduler, AsksForSlicesOfItsBuilderOnly) {
  const auto scheduler = make_scheduler(GetParam(), 5);
  for (std::uint64_t from : {0ULL, 1ULL, 7ULL, 123'456'789'012ULL}) {
    for (std::uint32_t b = 0; b < 5; ++b) {
      const auto slice = scheduler->next_slice({b}, {from});
      EXPECT_GE(slice.value, from);
      EXPECT_LT(slice.value, from + 5);
      EXPECT_EQ(scheduler->builder_of(slice).value, b);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryScheduler, testing::Values("round-robin", "chaotic"), [](const auto& name) {
  return name.param == std::string("chaotic") ? "chaotic" : "round_robin";
});

// DABC demonstrator: in slot k source s sends to builder (s + k) mod B.
TEST(RoundRobin, IsABarrelShifter) {
  const auto scheduler = make_scheduler("round-robin", 4);
  const auto done = play(*scheduler, 4, 4, 16, [](auto, auto, auto, auto) { return true; });
  std::vector<std::vector<std::uint32_t>> order(4);
  for (const auto& t : done) order[t.source].push_back(t.builder);
  for (std::uint32_t s = 0; s < 4; ++s) {
    for (std::uint32_t k = 0; k < 16; ++k) EXPECT_EQ(order[s][k], (s + k) % 4) << "source " << s << " slot " << k;
  }
}

TEST(RoundRobin, WaitsForTheBuilderWhoseTurnItIs) {
  const auto scheduler = make_scheduler("round-robin", 2);
  const std::vector<SliceId> next{{0}, {1}};
  const std::vector<std::uint8_t> only_second{0, 1};
  EXPECT_FALSE(scheduler->choose({{0}, next, only_second, {10}, 0}));
  EXPECT_EQ(scheduler->choose({{1}, next, only_second, {10}, 0})->value, 1U);
}

TEST(Chaotic, GoesOnWithTheOthersWhenOneBuilderIsStuck) {
  const auto scheduler = make_scheduler("chaotic", 4);
  const auto done = play(
      *scheduler, 2, 4, 40, [](auto, auto, auto b, auto) { return b != 1; }, /*max_steps=*/1000);
  EXPECT_EQ(done.size(), 2U * 30) << "all but the ten slices of the stuck builder";
}

TEST(Chaotic, ServesAllBuildersAlike) {
  const auto scheduler = make_scheduler("chaotic", 4);
  std::vector<int> served(4);
  std::vector<SliceId> next{{0}, {1}, {2}, {3}};
  const std::vector<std::uint8_t> all(4, 1);
  for (std::uint64_t turn = 0; turn < 400; ++turn) {
    const auto b = scheduler->choose({{3}, next, all, {100'000}, turn});
    ASSERT_TRUE(b);
    ++served[b->value];
    next[b->value].value += 4;
  }
  EXPECT_EQ(served, std::vector<int>({100, 100, 100, 100}));
}

TEST(Factory, RefusesUnknownNamesAndListsTheKnown) {
  try {
    make_scheduler("fastest", 2);
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("round-robin, chaotic"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace eventloom
