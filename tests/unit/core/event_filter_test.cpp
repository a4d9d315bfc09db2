#include "core/dataflow/event_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "formats/stream_file.hpp"

namespace eventloom::test {

namespace {

constexpr std::uint32_t channel_in(std::uint32_t system, std::uint32_t low) { return system << 22 | low; }

/// Events given by the channels of their hits, which are 10 ticks apart; the last event is foreign, with one of its
/// hits in the slice.
BuiltSlice make_slice(const std::vector<std::vector<std::uint32_t>>& events, bool payload = false) {
  BuiltSlice slice;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const bool owned = i + 1 < events.size();
    const auto n = static_cast<std::uint32_t>(events[i].size());
    slice.events.time.push_back(Tick(1000 * i));
    slice.events.duration.push_back(Tick(10 * (n - 1)));
    slice.events.n_hits.push_back(n);
    slice.events.flags.push_back(static_cast<std::uint32_t>(i));
    slice.events.sources_missing.push_back(i << 8);
    slice.events.hits_in_slice.push_back(owned ? n : 1);
    slice.events.owned.push_back(owned ? 1 : 0);
    slice.ledger.hits_in_events += owned ? n : 1;
    for (std::uint32_t h = 0; h < n; ++h) {
      slice.hits.time.push_back(Tick(1000 * i + 10 * h));
      slice.hits.channel.push_back(events[i][h]);
      slice.hits.source.push_back(static_cast<std::uint16_t>(i));
      if (!payload) continue;
      slice.hits.payload_words.push_back(h);
      for (std::uint32_t w = 0; w < h; ++w)
        slice.hits.payload.push_back(static_cast<std::uint32_t>(100 * i + 10 * h + w));
    }
  }
  slice.ledger.hits_outside = 5;
  slice.ledger.hits_in = slice.ledger.hits_in_events + 5;
  return slice;
}

BuiltSlice example() {
  return make_slice({{channel_in(1, 0x1200), channel_in(1, 2)},
                     {0x1200, 0x12ff, channel_in(3, 7), channel_in(63, 0)},
                     {0x11ff, 0x1300, 0x1250},
                     {7},
                     {8, 9, 10, 11, 12}});
}

/// Times of the events that pass.
std::vector<Tick> kept(const std::string& expression, std::uint64_t tick_ps = 1000) {
  EventFilter filter;
  filter.add(expression, tick_ps);
  auto slice = example();
  filter.select(slice);
  EXPECT_TRUE(slice.ledger.balances());
  return slice.events.time;
}

}  // namespace

TEST(EventFilter, NumberOfHitsByEveryComparison) {
  EXPECT_EQ(kept("n_hits>=3"), (std::vector<Tick>{1000, 2000}));
  EXPECT_EQ(kept("n_hits>3"), (std::vector<Tick>{1000}));
  EXPECT_EQ(kept("n_hits<=2"), (std::vector<Tick>{0, 3000}));
  EXPECT_EQ(kept("n_hits<2"), (std::vector<Tick>{3000}));
  EXPECT_EQ(kept("n_hits==2"), (std::vector<Tick>{0}));
  EXPECT_EQ(kept(" n_hits = 2 "), (std::vector<Tick>{0}));
  EXPECT_EQ(kept("n_hits != 2"), (std::vector<Tick>{1000, 2000, 3000}));
}

TEST(EventFilter, DurationInTicksAndWithUnit) {
  EXPECT_EQ(kept("duration<20"), (std::vector<Tick>{0, 3000}));
  EXPECT_EQ(kept("duration<=20ns"), (std::vector<Tick>{0, 2000, 3000}));
  EXPECT_EQ(kept("duration<20ns", 2000), (std::vector<Tick>{3000}));
}

TEST(EventFilter, SystemsAreCountedOnce) {
  EXPECT_EQ(kept("systems>=2"), (std::vector<Tick>{1000}));
  EXPECT_EQ(kept("systems==3"), (std::vector<Tick>{1000}));
  EXPECT_EQ(kept("systems==1"), (std::vector<Tick>{0, 2000, 3000}));
}

TEST(EventFilter, ChannelRangesIncludeBothEnds) {
  EXPECT_EQ(kept("channel:0x1200-0x12ff>=1"), (std::vector<Tick>{1000, 2000}));
  EXPECT_EQ(kept("channel:0x1200-0x12ff>=2"), (std::vector<Tick>{1000}));
  EXPECT_EQ(kept("channel : 4608 - 4863 == 0"), (std::vector<Tick>{0, 3000}));
  EXPECT_EQ(kept("channel:7>=1"), (std::vector<Tick>{3000}));
}

TEST(EventFilter, PrescaleGoesByTheHashOfTheTime) {
  // SplitMix64 of 0 is 0xe220a8397b1dcdaf (Vigna's splitmix64.c, first output for seed 0): odd, and
  // 16294208416658607535 = 3 * 5431402805552869178 + 1, = 5 * 3258841683331721507.
  const auto keeps_zero = [](const std::string& expression) {
    const auto times = kept(expression);
    return !times.empty() && times[0] == 0;
  };
  EXPECT_TRUE(keeps_zero("prescale=1"));
  EXPECT_FALSE(keeps_zero("prescale=2"));
  EXPECT_FALSE(keeps_zero("prescale=3"));
  EXPECT_TRUE(keeps_zero("prescale=5"));
}

TEST(EventFilter, PrescaleKeepsAboutOneInN) {
  BuiltSlice slice = make_slice(std::vector<std::vector<std::uint32_t>>(10'001, {1}));
  EventFilter filter;
  filter.add("prescale=10", 1000);
  filter.select(slice);
  EXPECT_NEAR(static_cast<double>(slice.events.size()), 1000, 5 * 30);  // 5 standard deviations
}

TEST(EventFilter, AllExpressionsMustPass) {
  EventFilter filter;
  filter.add("n_hits>=2", 1000);
  filter.add("systems==1", 1000);
  auto slice = example();
  filter.select(slice);
  EXPECT_EQ(slice.events.time, (std::vector<Tick>{0, 2000}));
  EXPECT_EQ(slice.hits.channel,
            (std::vector<std::uint32_t>{channel_in(1, 0x1200), channel_in(1, 2), 0x11ff, 0x1300, 0x1250}));
  EXPECT_EQ(slice.hits.time, (std::vector<Tick>{0, 10, 2000, 2010, 2020}));
  EXPECT_EQ(slice.hits.source, (std::vector<std::uint16_t>{0, 0, 2, 2, 2}));
  EXPECT_EQ(slice.events.flags, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(slice.events.sources_missing, (std::vector<std::uint64_t>{0, 2U << 8}));
  EXPECT_EQ(slice.events.duration, (std::vector<Tick>{10, 20}));
}

TEST(EventFilter, CountsItsOwnEventsThatItRejects) {
  EventFilter filter;
  filter.add("n_hits>=2", 1000);
  auto slice = example();
  const auto own = static_cast<std::uint64_t>(std::ranges::count(slice.events.owned, 1));
  filter.select(slice);
  EXPECT_GT(slice.events_rejected, 0U);
  EXPECT_EQ(slice.events_rejected, own - slice.events.size());
  filter.select(slice);
  EXPECT_EQ(slice.events_rejected, 0U) << "all remaining ones pass";
}

TEST(EventFilter, LedgerCountsTheHitsThatTheSliceHolds) {
  EventFilter filter;
  filter.add("n_hits<5", 1000);
  auto slice = example();
  filter.select(slice);
  EXPECT_EQ(slice.events.size(), 4U);
  EXPECT_EQ(slice.ledger.hits_rejected, 1U);  // one hit of the foreign event lies in this slice
  EXPECT_EQ(slice.events_rejected, 0U) << "the foreign event is counted where it belongs";
  EXPECT_EQ(slice.ledger.hits_in_events, 10U);
  EXPECT_TRUE(slice.ledger.balances());
}

TEST(EventFilter, WithoutExpressionsOnlyForeignEventsGo) {
  const EventFilter filter;
  EXPECT_TRUE(filter.empty());
  auto slice = example();
  filter.select(slice);
  EXPECT_EQ(slice.events.time, (std::vector<Tick>{0, 1000, 2000, 3000}));
  EXPECT_EQ(slice.hits.size(), 10U);
  EXPECT_EQ(slice.ledger.hits_in_events, 11U);
  EXPECT_EQ(slice.ledger.hits_rejected, 0U);
}

TEST(EventFilter, PayloadGoesWithItsHits) {
  EventFilter filter;
  filter.add("n_hits!=2", 1000);
  auto slice = make_slice({{1, 2}, {3, 4, 5}, {1, 2}, {9}, {1}}, true);
  filter.select(slice);
  EXPECT_EQ(slice.hits.channel, (std::vector<std::uint32_t>{3, 4, 5, 9}));
  EXPECT_EQ(slice.hits.payload_words, (std::vector<std::uint32_t>{0, 1, 2, 0}));
  EXPECT_EQ(slice.hits.payload, (std::vector<std::uint32_t>{110, 120, 121}));
}

TEST(EventFilter, SourcesAndRangesOfThem) {
  auto slice = example();
  slice.hits.source = {3, 3, 0, 1, 2, 3, 5, 5, 6, 9, 1, 1, 1, 1, 1};
  const auto kept_of = [&](const std::string& expression) {
    EventFilter filter;
    filter.add(expression, 1000);
    auto copy = slice;
    filter.select(copy);
    return copy.events.time;
  };
  EXPECT_EQ(kept_of("sources>=2"), (std::vector<Tick>{1000, 2000}));
  EXPECT_EQ(kept_of("sources==4"), (std::vector<Tick>{1000}));
  EXPECT_EQ(kept_of("source:3-5>=2"), (std::vector<Tick>{0, 2000}));
  EXPECT_EQ(kept_of("source:9==1 || source:0-1==2"), (std::vector<Tick>{1000, 3000}));
}

TEST(EventFilter, GroupsAndPositionsAreThoseOfTheDetector) {
  auto detector = std::make_shared<Detector>(6);
  detector->add_group("A");
  detector->add_group("B");
  for (std::uint16_t s = 0; s < 6; ++s) {
    detector->change({s, 0x1200, 0x12ff}, [](ChannelInfo& info) {
      info.groups = 2;
      info.position.emplace();
    });
  }
  const auto kept_of = [&](const std::string& expression) {
    EventFilter filter(detector);
    filter.add(expression, 1000);
    filter.set_streams({});
    auto slice = example();
    filter.select(slice);
    return slice.events.time;
  };
  EXPECT_EQ(kept_of("B>=1"), (std::vector<Tick>{1000, 2000}));
  EXPECT_EQ(kept_of("A>=1"), std::vector<Tick>());
  EXPECT_EQ(kept_of("A==0 && B<1"), (std::vector<Tick>{0, 3000}));
  // All hits are in one place, 10 ticks apart; hits without a position do not count.
  EXPECT_EQ(kept_of("causal(1,10ns)==2"), (std::vector<Tick>{1000}));
  EXPECT_EQ(kept_of("causal(1,9ns)==1"), (std::vector<Tick>{1000, 2000}));
  EXPECT_EQ(kept_of("causal(1,10ns)==0"), (std::vector<Tick>{0, 3000}));
}

TEST(EventFilter, TriggerIsThatOfTheFirstHitThatStatesIt) {
  BuiltSlice slice = make_slice({{1, 1}, {1, 1}, {1, 1}, {1}});
  slice.hits.source = {0, 1, 0, 1, 0, 1, 0};
  // Source 0 has no trigger types; among the hits of source 1, the third event's has too few words.
  slice.hits.payload_words = {2, 2, 0, 3, 2, 1, 0};
  slice.hits.payload = {0, 9U << 16, 5, 3U << 16 | 8U, 0, 4U << 16, 7, 0, 9U << 16, 5};
  const auto kept_of = [&](const std::string& expression) {
    EventFilter filter;
    filter.add(expression, 1000);
    filter.set_streams({0, kTriggerInPayload});
    auto copy = slice;
    filter.select(copy);
    return copy.events.time;
  };
  EXPECT_EQ(kept_of("trigger==3"), (std::vector<Tick>{0}));
  EXPECT_EQ(kept_of("trigger!=3"), (std::vector<Tick>{1000})) << "nothing holds for an unknown one";
  EXPECT_EQ(kept_of("!(trigger==3)"), (std::vector<Tick>{1000, 2000}));
}

TEST(EventFilter, RefusesWhatTheRunDoesNotHave) {
  for (const char* text : {"trigger==3", "n_hits>3 || causal(0.3,20ns)>=2"}) {
    EventFilter filter;
    filter.add(text, 1000);
    EXPECT_THROW(filter.set_streams({kNumbered}), UserError) << text;
  }
}

TEST(EventFilter, EveryExpressionIsAskedAboutEveryEvent) {
  const auto rejected_by = [](const std::vector<const char*>& expressions) {
    EventFilter filter;
    for (const auto* expression : expressions) filter.add(expression, 1000);
    auto slice = example();
    filter.select(slice);
    return slice.rejected_by;
  };
  EXPECT_EQ(rejected_by({"n_hits>=4", "systems==1"}), (std::vector<std::uint64_t>{3, 1}));
  EXPECT_EQ(rejected_by({"systems==1", "n_hits>=4"}), (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(rejected_by({}), std::vector<std::uint64_t>());
}

TEST(EventFilter, SaysWhatIsWrongAndWhatWasExpected) {
  for (const char* text : {"",
                           "n_hits",
                           "n_hits>=",
                           "n_hits>=x",
                           "n_hits>=-1",
                           "hits>=3",
                           "n_hits=>3",
                           "n_hits!3",
                           "channel>=1",
                           "channel:0x13-0x12>=1",
                           "channel:0x10000000>=1",
                           "channel:1-2-3>=1",
                           "channel:0x>=1",
                           "prescale=0",
                           "prescale>=3",
                           "prescale!=3",
                           "duration<5xs",
                           "duration<0.5",
                           "n_hits:3>=2",
                           ">=3"}) {
    EventFilter filter;
    try {
      filter.add(text, 1000);
      ADD_FAILURE() << "'" << text << "' was accepted";
    } catch (const UserError& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find(std::string("'") + text + "'"), std::string::npos) << what;
      EXPECT_NE(what.find("prescale=N"), std::string::npos) << what;
    }
  }
}

}  // namespace eventloom::test
