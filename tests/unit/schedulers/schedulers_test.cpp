#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "schedulers/make_scheduler.hpp"
#include "schedulers/table.hpp"

namespace eventloom {
namespace {

/// Builder 0 appears twice in a cycle; odd sources have the opposite order.
std::string table_text(std::uint32_t sources, std::uint32_t builders) {
  std::ostringstream text;
  for (std::uint32_t s = 0; s < sources; ++s) {
    for (std::uint32_t k = 0; k <= builders; ++k) {
      text << "0,0," << s << "," << (s % 2 == 0 ? k : builders - k) % builders << "\n";
    }
  }
  return text.str();
}

ScheduleSettings settings_of(const std::string& name, std::uint32_t sources, std::uint32_t builders) {
  ScheduleSettings settings;
  settings.name = name;
  settings.n_sources = sources;
  settings.n_builders = builders;
  return settings;
}

ScheduleSettings table_settings(const std::string& text, std::uint32_t sources, std::uint32_t builders) {
  auto settings = settings_of("table:t", sources, builders);
  settings.table_text = text;
  return settings;
}

/// A scheduler by name; "table" has a suitable table.
std::unique_ptr<Scheduler> scheduler_of(const std::string& name, std::uint32_t sources, std::uint32_t builders,
                                        SliceId first = {0}) {
  auto settings = name == "table" ? table_settings(table_text(sources, builders), sources, builders)
                                  : settings_of(name, sources, builders);
  settings.first_slice = first;
  return make_scheduler(settings);
}

struct Transfer {
  std::uint64_t slice;
  std::uint32_t source;
  std::uint32_t builder;
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// Whether a builder has credits, by its id.
std::function<bool(BuilderId)> ready(std::vector<std::uint8_t> credits) {
  return [credits = std::move(credits)](BuilderId b) { return credits[b.value] != 0; };
}

/// Plays a run without a network: sources send, and builders claim where the schedule requires it.
class Play {
 public:
  static constexpr std::uint32_t kInFlight = 3;

  Play(Scheduler& scheduler, std::uint32_t sources, std::uint32_t builders, SliceId first, std::uint64_t slices)
      : scheduler_(scheduler),
        first_(first),
        end_{first.value + slices},
        next_(sources, std::vector<SliceId>(builders, first)),
        turn_(sources),
        room_(builders, kInFlight) {}

  /// Runs step by step, the sources in turn, until everything is sent. `ready(step, source, builder)`: whether there is
  /// a credit.
  template <class Ready>
  std::vector<Transfer> run(Ready ready, std::size_t max_steps = 100'000) {
    const std::uint64_t all = (end_.value - first_.value) * next_.size();
    for (std::size_t step = 0; step < max_steps && done_.size() < all; ++step) {
      claim();
      send(static_cast<std::uint16_t>(step % next_.size()),
           [&](std::uint32_t source, std::uint32_t builder) { return ready(step, source, builder); });
    }
    return done_;
  }

 private:
  void claim() {
    auto* book = scheduler_.claims();
    while (book != nullptr) {
      const auto builder = scheduler_.assign(room_);
      if (!builder) return;
      ASSERT_GT(room_[builder->value], 0U) << "a builder without room was chosen";
      --room_[builder->value];
      book->append(*builder);
    }
  }

  template <class Ready>
  void send(std::uint16_t source, Ready ready) {
    std::vector<std::uint8_t> credits;
    for (std::uint32_t b = 0; b < room_.size(); ++b) {
      auto& next = next_[source][b];
      next = scheduler_.next_slice({b}, from_[{source, b}].value_or(first_)).value_or(kNoSlice);
      credits.push_back(next != kNoSlice && ready(source, b) ? 1 : 0);
    }
    const auto builder = scheduler_.choose(
        {{source}, next_[source], [&](BuilderId b) { return credits[b.value] != 0; }, end_, turn_[source]});
    if (!builder) return;
    const auto slice = next_[source][builder->value];
    ASSERT_EQ(credits[builder->value], 1) << "a builder without credit was chosen";
    ASSERT_LT(slice, end_);
    ++turn_[source];
    from_[{source, builder->value}] = SliceId{slice.value + 1};
    done_.push_back({slice.value, source, builder->value});
    if (++arrived_[slice.value] == next_.size()) ++room_[builder->value];
  }

  Scheduler& scheduler_;
  SliceId first_;
  SliceId end_;
  std::vector<std::vector<SliceId>> next_;  ///< [source][builder]
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<SliceId>> from_;
  std::vector<std::uint64_t> turn_;
  std::vector<std::uint32_t> room_;
  std::map<std::uint64_t, std::size_t> arrived_;
  std::vector<Transfer> done_;
};

/// Every source sent every slice once, all to the same builder, whose slices ascend.
void expect_complete(const std::vector<Transfer>& done, std::uint32_t sources, SliceId first, std::uint64_t slices) {
  EXPECT_EQ(done.size(), sources * slices);
  std::set<std::pair<std::uint64_t, std::uint32_t>> sent;
  std::map<std::uint64_t, std::uint32_t> builder_of;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> last;
  for (const auto& t : done) {
    EXPECT_TRUE(sent.emplace(t.slice, t.source).second) << "slice " << t.slice << " twice from source " << t.source;
    EXPECT_EQ(builder_of.try_emplace(t.slice, t.builder).first->second, t.builder) << "slice " << t.slice;
    EXPECT_TRUE(t.slice >= first.value && t.slice < first.value + slices) << "slice " << t.slice;
    const auto [at, begun] = last.try_emplace({t.source, t.builder}, t.slice);
    EXPECT_TRUE(begun || at->second < t.slice) << "slice " << t.slice << " after " << at->second;
    at->second = t.slice;
  }
}

constexpr auto kAlways = [](auto, auto, auto) { return true; };

class EveryScheduler : public testing::TestWithParam<const char*> {};

TEST_P(EveryScheduler, SendsEveryTripleExactlyOnce) {
  for (const auto& [sources, builders] : {std::pair{1U, 1U}, {1U, 4U}, {4U, 1U}, {3U, 4U}, {5U, 3U}, {8U, 8U}}) {
    for (const SliceId first : {SliceId{0}, SliceId{11}, SliceId{123'456'789'012}}) {
      const auto scheduler = scheduler_of(GetParam(), sources, builders, first);
      std::mt19937_64 random(sources * 100 + builders);
      const auto done =
          Play(*scheduler, sources, builders, first, 37).run([&](auto, auto, auto) { return random() % 3 != 0; });
      SCOPED_TRACE(std::to_string(sources) + " sources, " + std::to_string(builders) + " builders");
      expect_complete(done, sources, first, 37);
    }
  }
}

// One builder accepts a slice only occasionally.
TEST_P(EveryScheduler, FinishesWithOneSlowBuilder) {
  const auto scheduler = scheduler_of(GetParam(), 4, 4);
  const auto done =
      Play(*scheduler, 4, 4, {0}, 80).run([](auto step, auto, auto b) { return b != 2 || step % 50 < 4; });
  expect_complete(done, 4, {0}, 80);
}

// The first slice at or after `from`, and every slice belongs to exactly one builder.
TEST_P(EveryScheduler, GivesEverySliceToOneBuilder) {
  constexpr std::uint32_t kFive = 5;
  for (const std::uint64_t first : {0ULL, 7ULL, 123'456'789'012ULL}) {
    const auto scheduler = scheduler_of(GetParam(), 3, kFive, {first});
    if (auto* book = scheduler->claims()) {
      for (std::uint64_t i = 0; i < 40; ++i) book->append({static_cast<std::uint32_t>(i * i % kFive)});
    }
    for (std::uint64_t slice = first; slice < first + 20; ++slice) {
      int owners = 0;
      for (std::uint32_t b = 0; b < kFive; ++b) {
        const auto next = scheduler->next_slice({b}, {slice});
        if (!next) continue;
        EXPECT_GE(next->value, slice);
        EXPECT_EQ(scheduler->next_slice({b}, *next), next);
        owners += next->value == slice ? 1 : 0;
      }
      EXPECT_EQ(owners, 1) << "slice " << slice;
    }
  }
}

TEST_P(EveryScheduler, AnswersAlikeWhenReplayed) {
  const auto replay = [&] {
    const auto scheduler = scheduler_of(GetParam(), 5, 3, {17});
    std::mt19937_64 random(3);
    return Play(*scheduler, 5, 3, {17}, 60).run([&](auto, auto, auto) { return random() % 2 != 0; });
  };
  const auto once = replay();
  EXPECT_EQ(once.size(), 300U);
  EXPECT_EQ(once, replay());
}

TEST_P(EveryScheduler, SendsNothingFromTheEndOn) {
  const auto scheduler = scheduler_of(GetParam(), 2, 2);
  const std::vector<SliceId> next{{10}, {11}};
  const auto all = ready({1, 1});
  EXPECT_FALSE(scheduler->choose({{0}, next, all, {10}, 0}));
  EXPECT_EQ(scheduler->choose({{1}, next, all, {11}, 0}), BuilderId{0}) << "one slice is left";
}

INSTANTIATE_TEST_SUITE_P(All, EveryScheduler,
                         testing::Values("round-robin", "chaotic", "unshifted", "balanced", "table"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::ranges::replace(text, '-', '_');
                           return text;
                         });

/// [source][slot]: the builders in the order in which each source serves them.
std::vector<std::vector<std::uint32_t>> orders(Scheduler& scheduler, std::uint32_t sources, std::uint32_t builders,
                                               std::uint64_t slices) {
  std::vector<std::vector<std::uint32_t>> order(sources);
  for (const auto& t : Play(scheduler, sources, builders, {0}, slices).run(kAlways)) {
    order[t.source].push_back(t.builder);
  }
  return order;
}

// DABC demonstrator: in slot k source s sends to builder (s + k) mod B.
TEST(RoundRobin, IsABarrelShifter) {
  for (std::uint32_t n = 1; n <= 9; ++n) {
    const std::uint32_t sources = 2 * n;
    const auto scheduler = scheduler_of("round-robin", sources, n);
    const auto order = orders(*scheduler, sources, n, 3 * n);
    for (std::uint32_t s = 0; s < sources; ++s) {
      ASSERT_EQ(order[s].size(), 3 * n);
      for (std::uint32_t k = 0; k < 3 * n; ++k) {
        ASSERT_EQ(order[s][k], (s + k) % n) << n << " builders, source " << s << ", slot " << k;
      }
    }
  }
}

TEST(RoundRobin, NoTwoSourcesShareABuilderInAnySlot) {
  constexpr std::uint64_t kSlotNs = 20'000;
  for (std::uint32_t n = 1; n <= 9; ++n) {
    auto settings = settings_of("round-robin", n, n);
    settings.slot_ns = kSlotNs;
    const auto scheduler = make_scheduler(settings);
    std::map<std::uint64_t, std::set<std::uint64_t>> builders;  // by start
    for (std::uint16_t s = 0; s < n; ++s) {
      for (std::uint64_t slice = 0; slice < 3 * n; ++slice) {
        EXPECT_TRUE(builders[scheduler->start_ns({s}, {slice})].insert(slice % n).second)
            << n << " builders, source " << s << ", slice " << slice;
      }
    }
    EXPECT_EQ(builders.size(), 3 * n);
    EXPECT_EQ(builders.rbegin()->first, (3 * n - 1) * kSlotNs);
  }
}

TEST(RoundRobin, CountsItsSlotsFromTheCycleOfTheFirstSlice) {
  auto settings = settings_of("round-robin", 3, 4);
  settings.first_slice = {10};  // of the cycle 8 to 11
  settings.slot_ns = 500;
  const auto scheduler = make_scheduler(settings);
  EXPECT_EQ(scheduler->slot_ns(), 500U);
  for (std::uint64_t k = 0; k < 12; ++k) {
    EXPECT_EQ(scheduler->start_ns({0}, {8 + k}), k * 500);
  }
  EXPECT_EQ(scheduler->start_ns({2}, {10}), 0U) << "source 2 begins with builder 2";
  EXPECT_EQ(scheduler->start_ns({2}, {9}), 1500U) << "and comes to builder 1 in slot 3";
  EXPECT_EQ(scheduler->start_ns({2}, {13}), 3500U);
}

TEST(RoundRobin, HasNoTimesWithoutSlots) {
  const auto scheduler = scheduler_of("round-robin", 3, 4);
  EXPECT_EQ(scheduler->slot_ns(), 0U);
  EXPECT_EQ(scheduler->start_ns({2}, {1000}), 0U);
}

TEST(RoundRobin, WaitsForTheBuilderWhoseTurnItIs) {
  const auto scheduler = scheduler_of("round-robin", 2, 2);
  const std::vector<SliceId> next{{0}, {1}};
  const auto only_second = ready({0, 1});
  EXPECT_FALSE(scheduler->choose({{0}, next, only_second, {10}, 0}));
  EXPECT_EQ(scheduler->choose({{1}, next, only_second, {10}, 0}), BuilderId{1});
}

TEST(Unshifted, AllSourcesServeTheBuildersInTheSameOrder) {
  const auto scheduler = scheduler_of("unshifted", 5, 4);
  const auto order = orders(*scheduler, 5, 4, 16);
  for (const auto& of_source : order) {
    ASSERT_EQ(of_source.size(), 16U);
    for (std::uint32_t k = 0; k < 16; ++k) EXPECT_EQ(of_source[k], k % 4);
  }
}

TEST(Chaotic, ContinuesWithTheOthersWhenOneBuilderIsStuck) {
  const auto scheduler = scheduler_of("chaotic", 2, 4);
  const auto done = Play(*scheduler, 2, 4, {0}, 40).run([](auto, auto, auto b) { return b != 1; }, 1000);
  EXPECT_EQ(done.size(), 2U * 30) << "all but the ten slices of the stuck builder";
}

TEST(Chaotic, ServesAllBuildersAlike) {
  const auto scheduler = scheduler_of("chaotic", 4, 4);
  std::vector<int> served(4);
  std::vector<SliceId> next{{0}, {1}, {2}, {3}};
  const auto all = ready({1, 1, 1, 1});
  for (std::uint64_t turn = 0; turn < 400; ++turn) {
    const auto b = scheduler->choose({{3}, next, all, {100'000}, turn});
    ASSERT_TRUE(b);
    ++served[b->value];
    next[b->value].value += 4;
  }
  EXPECT_EQ(served, std::vector<int>({100, 100, 100, 100}));
}

/// Gives every builder `room` at first; builder b returns one in every tick that `period[b]` divides, if it has any
/// slice. Returns how many slices each builder got.
std::vector<int> share(Scheduler& scheduler, const std::vector<int>& period, std::uint32_t room_of_each, int ticks) {
  std::vector<std::uint32_t> room(period.size(), room_of_each);
  std::vector<int> got(period.size());
  std::vector<std::uint64_t> slices;
  for (int tick = 1; tick <= ticks; ++tick) {
    for (std::size_t b = 0; b < period.size(); ++b) {
      if (tick % period[b] == 0 && room[b] < room_of_each) ++room[b];
    }
    while (const auto builder = scheduler.assign(room)) {
      if (room[builder->value] == 0) {
        ADD_FAILURE() << "a builder without room was chosen";
        return got;
      }
      const auto slice = scheduler.claims()->end();
      EXPECT_FALSE(scheduler.next_slice(*builder, slice));
      scheduler.claims()->append(*builder);
      EXPECT_EQ(scheduler.next_slice(*builder, slice), slice);
      EXPECT_EQ(scheduler.claims()->end().value, slice.value + 1);
      --room[builder->value];
      ++got[builder->value];
    }
    EXPECT_EQ(std::ranges::count(room, 0U), std::ssize(room)) << "all room is used";
  }
  return got;
}

TEST(Balanced, ASlowBuilderGetsFewer) {
  const auto scheduler = scheduler_of("balanced", 2, 4, {1000});
  const auto got = share(*scheduler, {1, 1, 2, 1}, 4, 2000);
  EXPECT_EQ(scheduler->claims()->end().value, 1000U + got[0] + got[1] + got[2] + got[3]);
  for (const int b : {0, 1, 3}) EXPECT_NEAR(got[b], 2000, 10);
  EXPECT_NEAR(got[2], 1000, 10);
}

TEST(Balanced, TheMostRoomGoesFirst) {
  const auto scheduler = scheduler_of("balanced", 1, 4);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(scheduler->assign(std::vector<std::uint32_t>{1, 2, 5, 4}), BuilderId{2});
    EXPECT_EQ(scheduler->assign(std::vector<std::uint32_t>{0, 0, 0, 1}), BuilderId{3});
    EXPECT_EQ(scheduler->assign(std::vector<std::uint32_t>{0, 0, 0, 0}), std::nullopt);
    scheduler->claims()->append({0});
  }
}

TEST(Balanced, EqualsGoRound) {
  const auto scheduler = scheduler_of("balanced", 1, 3);
  const std::vector<std::uint32_t> room(3, 4);
  std::vector<int> got(3);
  for (int i = 0; i < 30; ++i) {
    const auto builder = scheduler->assign(room);
    ASSERT_TRUE(builder);
    scheduler->claims()->append(*builder);
    ++got[builder->value];
    if (i % 3 == 2) {
      EXPECT_EQ(got, std::vector<int>(3, i / 3 + 1));
    }
  }
}

// This holds for some of several equal builders, and whatever happened before.
TEST(Balanced, OfEqualsTheOneAfterTheLast) {
  const auto scheduler = scheduler_of("balanced", 1, 3);
  const std::vector<std::uint32_t> room{1, 1, 0};
  std::vector<int> got(3);
  for (int i = 0; i < 30; ++i) {
    const auto builder = scheduler->assign(room);
    ASSERT_TRUE(builder);
    scheduler->claims()->append(*builder);
    ++got[builder->value];
  }
  EXPECT_EQ(got, std::vector<int>({15, 15, 0}));
}

// If all sources began with the lowest slice, they would share one builder's link.
TEST(Balanced, SourcesBeginAtDifferentBuilders) {
  const auto scheduler = scheduler_of("balanced", 4, 4);
  const std::vector<SliceId> next{{9}, {5}, {8}, {7}};
  const auto all = ready({1, 1, 1, 1});
  for (std::uint16_t source = 0; source < 4; ++source) {
    for (std::uint32_t turn = 0; turn < 4; ++turn) {
      EXPECT_EQ(scheduler->choose({{source}, next, all, {100}, source + turn}), BuilderId{(source + turn) % 4});
    }
  }
}

TEST(Balanced, SendsWhatHasACredit) {
  const auto scheduler = scheduler_of("balanced", 1, 4);
  const std::vector<SliceId> next{{9}, {5}, kNoSlice, {7}};
  EXPECT_EQ(scheduler->choose({{0}, next, ready({0, 1, 1, 1}), {100}, 0}), BuilderId{1});
  EXPECT_EQ(scheduler->choose({{0}, next, ready({0, 0, 1, 1}), {100}, 0}), BuilderId{3});
  EXPECT_EQ(scheduler->choose({{0}, next, ready({0, 1, 1, 1}), {100}, 2}), BuilderId{3});
  EXPECT_EQ(scheduler->choose({{0}, next, ready({0, 0, 1, 0}), {100}, 0}), std::nullopt);
}

TEST(ClaimBook, KnowsWhatIsClaimed) {
  ClaimBook book({100}, 10);
  EXPECT_EQ(book.end(), SliceId{100});
  EXPECT_FALSE(book.next_slice({0}, {0}));
  for (const std::uint32_t b : {2U, 0U, 2U, 1U}) book.append({b});
  EXPECT_EQ(book.end(), SliceId{104});
  EXPECT_EQ(book.next_slice({2}, {0}), SliceId{100});
  EXPECT_EQ(book.next_slice({2}, {100}), SliceId{100});
  EXPECT_EQ(book.next_slice({2}, {101}), SliceId{102});
  EXPECT_EQ(book.next_slice({2}, {103}), std::nullopt);
  EXPECT_EQ(book.next_slice({1}, {0}), SliceId{103});
  EXPECT_EQ(book.next_slice({3}, {0}), std::nullopt);
  EXPECT_EQ(book.next_slice({1}, {104}), std::nullopt);
}

TEST(ClaimBook, ForgetsTheOldest) {
  ClaimBook book({50}, 4);
  for (std::uint32_t i = 0; i < 7; ++i) book.append({i});
  EXPECT_EQ(book.end(), SliceId{57});
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(book.next_slice({i}, {50}), std::nullopt);
  for (std::uint32_t i = 3; i < 7; ++i) EXPECT_EQ(book.next_slice({i}, {50}), SliceId{50 + i});
}

ScheduleTable table_of(const std::string& text) { return parse_schedule_table(text, "t"); }

TEST(Table, ReadsEveryKindOfLine) {
  const auto table = table_of(
      "# a comment\n"
      "0,0,0,1\n"
      "\n"
      "1.5us, 4KiB, 3, 2   # another\n"
      "7,100,65535,65535\n"
      "period,2us\n");
  ASSERT_EQ(table.entries.size(), 3U);
  EXPECT_EQ(table.period_ns, 2000U);
  EXPECT_EQ(table.entries[1].time_ns, 1500U);
  EXPECT_EQ(table.entries[1].bytes, 4096U);
  EXPECT_EQ(table.entries[1].source, SourceId{3});
  EXPECT_EQ(table.entries[1].destination, BuilderId{2});
  EXPECT_EQ(table.entries[2].time_ns, 7U);
}

// The time of the last slice must fit 64 bits, however often the cycle repeats.
TEST(Table, TimesAreAtMostADay) { EXPECT_EQ(table_of("0,0,0,0\nperiod,86400s\n").period_ns, 86'400'000'000'000U); }

TEST(Table, RefusesTimesOfMoreThanADay) {
  EXPECT_THROW(table_of("0,0,0,0\nperiod,86401s\n"), std::invalid_argument);
  EXPECT_THROW(table_of("86401s,0,0,0\n"), std::invalid_argument);
}

// Lines in any order: times decide. Source 0 has 0 at 0, 1 at 10, 0 at 20; source 1 begins with 1.
const char* const kTimed =
    "20,0,0,0\n0,0,0,0\n10,0,0,1\n"
    "5,0,1,1\n15,0,1,0\n25,0,1,0\n"
    "period,40\n";

TEST(Table, GivesTheSlicesAsSourceZeroSays) {
  const Table table(settings_of("table:t", 2, 2), table_of(kTimed), "t");
  const std::vector<std::uint32_t> expected{0, 1, 0, 0, 1, 0};
  for (std::uint64_t slice = 0; slice < expected.size(); ++slice) {
    EXPECT_EQ(table.next_slice({expected[slice]}, {slice}), SliceId{slice});
    EXPECT_NE(table.next_slice({1 - expected[slice]}, {slice}), SliceId{slice});
  }
}

TEST(Table, ABuilderMayGetMore) {
  const auto scheduler = make_scheduler(table_settings(kTimed, 2, 2));
  std::vector<int> got(2);
  for (const auto& t : Play(*scheduler, 2, 2, {0}, 30).run(kAlways)) ++got[t.builder];
  EXPECT_EQ(got, std::vector<int>({40, 20}));
}

TEST(Table, EverySourceKeepsItsOrderAndItsTimes) {
  auto settings = table_settings(kTimed, 2, 2);
  settings.first_slice = {4};  // of the cycle 3 to 5
  const auto scheduler = make_scheduler(settings);
  const auto order = orders(*scheduler, 2, 2, 6);
  EXPECT_EQ(order[0], std::vector<std::uint32_t>({0, 1, 0, 0, 1, 0}));
  EXPECT_EQ(order[1], std::vector<std::uint32_t>({1, 0, 0, 1, 0, 0}));
  const std::vector<std::vector<std::uint64_t>> start_in_cycle{{0, 10, 20}, {15, 5, 25}};
  for (std::uint16_t s = 0; s < 2; ++s) {
    for (std::uint64_t i = 0; i < 9; ++i) {
      EXPECT_EQ(scheduler->start_ns({s}, {3 + i}), i / 3 * 40 + start_in_cycle[s][i % 3])
          << "source " << s << ", slice " << 3 + i;
    }
  }
  EXPECT_EQ(scheduler->slot_ns(), 5U);
}

TEST(Table, WithoutTimesTheOrderAloneCounts) {
  const auto scheduler = make_scheduler(table_settings("0,0,0,1\n0,0,0,0\n0,0,0,1\n", 1, 2));
  EXPECT_EQ(scheduler->slot_ns(), 0U);
  EXPECT_EQ(scheduler->start_ns({0}, {1000}), 0U);
  EXPECT_EQ(orders(*scheduler, 1, 2, 6)[0], std::vector<std::uint32_t>({1, 0, 1, 1, 0, 1}));
}

std::uint64_t step_of(const std::string& text) {
  return Table(settings_of("table:t", 1, 1), table_of(text), "t").slot_ns();
}

TEST(Table, KnowsTheShortestTimeBetweenStarts) {
  EXPECT_EQ(step_of("0,0,0,0\n7,0,0,0\n20,0,0,0\nperiod,100\n"), 7U);
  EXPECT_EQ(step_of("0,0,0,0\n7,0,0,0\n20,0,0,0\nperiod,24\n"), 4U) << "from the last to the next cycle's first";
}

// The first start of the next cycle is not at the cycle's beginning.
TEST(Table, KnowsTheShortestTimeWhenTheFirstStartIsLate) {
  EXPECT_EQ(step_of("10,0,0,0\n20,0,0,0\nperiod,25\n"), 10U) << "from 20 to 35 it is 15";
  EXPECT_EQ(step_of("10,0,0,0\nperiod,15\n"), 15U);
}

/// The message with which a scheduler is refused; empty if it is accepted.
std::string refusal(const ScheduleSettings& settings) {
  try {
    make_scheduler(settings);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

/// Likewise for a table of two sources and two builders, without the file's name.
std::string table_refusal(const std::string& text) {
  const auto message = refusal(table_settings(text, 2, 2));
  const std::string begin = "schedule table 't': ";
  EXPECT_TRUE(message.empty() || message.starts_with(begin)) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message.empty() ? "" : message.substr(begin.size());
}

TEST(Table, AcceptsAFileThatFits) {
  EXPECT_EQ(table_refusal("0,0,0,0\n0,0,0,1\n0,0,1,1\n0,0,1,0\n"), "");
  EXPECT_EQ(table_refusal("0,0,0,0\n0,0,0,1\n0,0,1,1\n0,0,1,0\n0,0,7,0\n"), "") << "a source that does not exist";
}

TEST(Table, RefusesWhatItCannotRead) {
  EXPECT_EQ(table_refusal(""), "it has no entries");
  EXPECT_EQ(table_refusal("# nothing\nperiod,5\n"), "it has no entries");
  EXPECT_EQ(table_refusal("0,0,0,0\n\n0,0,1\n"), "line 3: expected time,size,source,destination");
  EXPECT_EQ(table_refusal("0,0,0,0,0\n"), "line 1: expected time,size,source,destination");
  EXPECT_EQ(table_refusal("0,0,0,0\nperiod\n"), "line 2: expected time,size,source,destination");
  EXPECT_TRUE(table_refusal("0,0,0,0\n5weeks,0,0,1\n").starts_with("line 2: '5weeks' is not a length of time"));
  EXPECT_TRUE(table_refusal("0,5XB,0,0\n").starts_with("line 1: '5XB' is not a number of bytes"));
  EXPECT_TRUE(table_refusal("0,0,a,0\n").starts_with("line 1: 'a' is not a whole number"));
  EXPECT_TRUE(table_refusal("0,0,0,-1\n").starts_with("line 1: '-1' is not a whole number"));
  EXPECT_EQ(table_refusal("0,0,65536,0\n"), "line 1: source and destination are numbers from 0 to 65535");
}

TEST(Table, RefusesWhatDoesNotFit) {
  EXPECT_EQ(table_refusal("0,0,0,2\n0,0,1,2\n"), "no builder 2, the run has 2");
  EXPECT_EQ(table_refusal("0,0,0,0\n0,0,1,0\n"), "no slice goes to builder 1");
  const std::string often = "source 1 must send to each builder as often as source 0 does";
  EXPECT_EQ(table_refusal("0,0,0,0\n0,0,0,1\n"), often);
  EXPECT_EQ(table_refusal("0,0,0,0\n0,0,0,1\n0,0,1,0\n0,0,1,0\n"), often);
  EXPECT_EQ(table_refusal("0,0,0,0\n0,0,0,1\n0,0,1,0\n0,0,1,1\n0,0,1,1\n"), often);
  const std::string period = "it needs a line 'period,TIME' beyond its last time";
  const std::string both = "0,0,0,0\n10,0,0,1\n10,0,1,0\n0,0,1,1\n";
  EXPECT_EQ(table_refusal(both), period);
  EXPECT_EQ(table_refusal(both + "period,10\n"), period);
  EXPECT_EQ(table_refusal(both + "period,11\n"), "");
}

TEST(Factory, RefusesSlotsWhereThereAreNone) {
  for (const char* name : {"chaotic", "balanced", "unshifted", "table:t"}) {
    auto settings = settings_of(name, 2, 2);
    settings.table_text = table_text(2, 2);
    settings.slot_ns = 1000;
    EXPECT_EQ(refusal(settings), "schedule '" + std::string(name) + "' has no slots; omit --slot");
  }
}

TEST(Factory, RefusesUnknownNamesAndListsTheKnown) {
  for (const char* name : {"fastest", "", "table", "table:", "round-robin:4", "Chaotic"}) {
    EXPECT_EQ(refusal(settings_of(name, 2, 2)),
              "unknown schedule '" + std::string(name) +
                  "'; known are: round-robin, chaotic, balanced, table:FILE, unshifted");
  }
  EXPECT_EQ(scheduler_names(),
            std::vector<std::string>({"round-robin", "chaotic", "balanced", "table:FILE", "unshifted"}));
}

}  // namespace
}  // namespace eventloom
