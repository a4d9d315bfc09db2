#include <gtest/gtest.h>

#include <chrono>

#include "fake_feed.hpp"

namespace eventloom::test {
namespace {

constexpr std::uint32_t kSession = 5;
/// Earlier invocations finished 100 hits, up to epoch 50.
constexpr LivePast kPast{PeerPlace{kSession, 40}, 100, 50, 0};

/// A board that counts its hits sends `n` of them in the epoch.
void send(Live& live, Epoch epoch, std::uint32_t n, std::uint64_t before) {
  live.feed.is_counting = true;
  live.feed.add(make_buffer(epoch, n));
  live.feed.next.sent = PeerCount{kSession, before + n};
}

/// The position that a board reports when the run begins to hear it in mid-stream.
void join(Live& live, Epoch first) {
  live.feed.next.damage.push_back({.first_epoch = 0, .n_epochs = first, .cause = DropCause::lost});
}

std::uint64_t lost(const SliceData& data) {
  std::uint64_t hits = 0;
  for (const auto& damage : data.damage) hits += damage.n_hits;
  return hits;
}

TEST(FeedStreamReturn, WhatWasSentMeanwhileIsLostAtTheBeginning) {
  Live live;
  std::vector<PeerPlace> kept;
  join(live, 73);
  send(live, 73, 4, 140 + 33);
  live.stream.receive();
  live.stream.fix_header();
  live.stream.begin({.epoch = 70, .past = kPast, .keep = [&](const PeerPlace& place) { kept.push_back(place); }});
  send(live, 74, 2, 140 + 33 + 4);
  live.stream.receive();
  const auto data = live.collect({70, 80});
  EXPECT_EQ(hits_in(data).size(), 6U);
  EXPECT_EQ(lost(data), 33U);
  ASSERT_EQ(data.damage.size(), 1U);
  EXPECT_EQ(data.damage[0].first_epoch, Epoch(70));
  EXPECT_EQ(data.damage[0].n_epochs, Epoch(3)) << "up to the first data";
  EXPECT_EQ(live.count("hits_dropped_lost"), 33U);
  EXPECT_EQ(live.stream.hits_read(), 39U);
  EXPECT_EQ(live.stream.remarks().size(), 1U);
  EXPECT_EQ(kept, std::vector{*kPast.place});
}

TEST(FeedStreamReturn, WhereNothingWasSentNothingIsMissing) {
  Live live;
  join(live, 73);
  send(live, 73, 4, 140);
  live.stream.receive();
  live.stream.fix_header();
  live.stream.begin({.epoch = 70, .past = kPast});
  const auto data = live.collect({70, 80});
  EXPECT_EQ(hits_in(data).size(), 4U);
  EXPECT_TRUE(data.damage.empty());
  EXPECT_TRUE(live.stream.remarks().empty());
}

/// No other invocation will have these data.
TEST(FeedStreamReturn, WhatComesBeforeTheBeginningIsLost) {
  Live live;
  send(live, 60, 3, 140);
  send(live, 73, 4, 143);
  live.stream.receive();
  live.stream.fix_header();
  live.stream.begin({.epoch = 70, .past = kPast});
  EXPECT_EQ(live.count("hits_dropped_lost"), 3U);
  EXPECT_EQ(live.count("hits_before_the_run"), 0U);
  EXPECT_EQ(live.stream.hits_read(), 7U);
}

TEST(FeedStreamReturn, ASourceHeardLaterIsComparedThen) {
  Live live;
  live.feed.is_counting = true;
  live.stream.fix_header();
  live.stream.begin({.epoch = 70, .past = kPast});
  live.stream.receive();
  join(live, 75);
  send(live, 75, 4, 140 + 11);
  live.stream.receive();
  EXPECT_EQ(live.count("hits_dropped_lost"), 11U);
  EXPECT_EQ(lost(live.collect({70, 80})), 11U);
}

TEST(FeedStreamReturn, AnUnknownPlaceIsAnAnomaly) {
  Live live;
  const auto before = live.stream.anomalies();
  live.feed.add(make_buffer(73, 4));
  live.stream.receive();
  live.stream.fix_header();
  live.stream.begin({.epoch = 70, .past = kPast});
  EXPECT_EQ(live.count("unknown_losses"), 1U);
  EXPECT_EQ(live.stream.anomalies(), before + 1);
  const auto data = live.collect({70, 80});
  ASSERT_EQ(data.damage.size(), 1U) << "the slice is flagged";
  EXPECT_EQ(data.damage[0].n_epochs, Epoch(3));
}

TEST(FeedStreamReturn, SaysHowFarTheClockIsOff) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const auto unix_time = std::chrono::system_clock::now().time_since_epoch();
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(unix_time).count();
  for (const std::int64_t off_s : {-3600, 0, 3600}) {
    Live live;
    live.feed.started = now + off_s * kSecond;
    live.feed.add(make_buffer(73, 4));
    live.stream.receive();
    ASSERT_TRUE(live.stream.peer().clock_behind_ns);
    EXPECT_EQ(is_far_clock(*live.stream.peer().clock_behind_ns), off_s != 0) << off_s;
    EXPECT_EQ(live.stream.remarks().size(), off_s != 0 ? 1U : 0U);
    const auto difference = live.count("clock_difference_ns");
    EXPECT_NEAR(static_cast<double>(difference), off_s == 0 ? 0 : 3600e9, 60e9) << off_s;
  }
}

}  // namespace
}  // namespace eventloom::test
