#include "core/monitor/watched_sink.hpp"

#include <gtest/gtest.h>

#include <array>

namespace eventloom {
namespace {

struct Nowhere : EventSink {
  void write(const BuiltSlice&) override {}
};

/// Events of one hit each, 10 ticks apart.
BuiltSlice slice_of(std::uint64_t number, std::size_t n) {
  BuiltSlice slice;
  slice.ledger.slice = number;
  slice.ledger.hits_in = slice.ledger.hits_in_events = n;
  for (std::size_t i = 0; i < n; ++i) {
    slice.events.time.push_back(Tick((number * n + i) * 10));
    slice.hits.time.push_back(slice.events.time.back());
  }
  slice.events.duration.resize(n);
  slice.events.n_hits.resize(n, 1);
  slice.events.flags.resize(n);
  slice.events.sources_missing.resize(n);
  slice.hits.source.resize(n, 2);
  slice.hits.channel.resize(n, 7);
  return slice;
}

class WatchedSinkTest : public testing::Test {
 protected:
  RankRecord after(std::uint64_t slices, std::size_t events) {
    TelemetrySettings settings;
    settings.counters = settings.pictures = true;
    WatchedSink sink(0, nowhere_, settings, 100, hits_);
    auto slice = slice_of(0, events);
    for (std::uint64_t i = 0; i < slices; ++i) {
      slice.ledger.slice = i;
      sink.write(slice);
      for (auto& time : slice.events.time) time += Tick(events * 10);
    }
    RankRecord record;
    sink.add_to(record);
    return record;
  }

  Nowhere nowhere_;
  ChannelCounts hits_;
};

TEST_F(WatchedSinkTest, CountsEveryEvent) {
  auto record = after(20, 100);
  EXPECT_EQ(record.counters[Metric::events], 2000U);
  EXPECT_EQ(record[HistogramKind::multiplicity].count(), 2000U);
  EXPECT_EQ(record[HistogramKind::interval][10], 1999U);
  EXPECT_EQ(hits_.of_sources(), (std::vector<std::uint64_t>{0, 0, 2000}));
}

/// Also when the previous slices have already been kept and the last ones are empty.
TEST_F(WatchedSinkTest, KeepsTheEventsOfTheLastSlice) {
  TelemetrySettings settings;
  settings.counters = settings.pictures = true;
  WatchedSink sink(0, nowhere_, settings, 3, hits_);
  for (std::uint64_t i = 0; i < 5; ++i) sink.write(slice_of(i, 10));
  auto with_payload = slice_of(5, 10);
  with_payload.hits.payload_words = {0, 0, 0, 0, 0, 0, 2, 1, 0, 3};
  with_payload.hits.payload = {10, 11, 12, 13, 14, 15};
  sink.write(with_payload);
  sink.write(slice_of(6, 0));
  RankRecord record;
  sink.add_to(record);
  ASSERT_EQ(record.events.size(), 3U) << "there is room for three hits";
  constexpr std::array<std::array<std::uint32_t, 2>, 3> kFirstWords{{{13, 14}, {0, 0}, {12, 0}}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(record.events[i].event.time, 10 * (59 - i));
    EXPECT_EQ(record.events[i].event.slice, 5U);
    EXPECT_EQ(record.events[i].hits.at(0).payload, kFirstWords.at(i));
  }
  RankRecord again;
  sink.add_to(again);
  EXPECT_TRUE(again.events.empty());
}

/// Counting all of them would take more than the tenth of a second that accumulates.
TEST_F(WatchedSinkTest, LeavesOutSlicesOfARunThatIsTooFast) {
  constexpr std::uint64_t kEvents = 600 * 100'000;
  auto record = after(600, 100'000);
  EXPECT_EQ(record.counters[Metric::events], kEvents);
  const auto counted = record[HistogramKind::multiplicity].count();
  EXPECT_LT(counted, kEvents);
  EXPECT_GT(counted, 0U);
  EXPECT_EQ(counted % 100'000, 0U) << "whole slices";
  EXPECT_EQ(hits_.of_sources()[2], counted);
  auto& intervals = record[HistogramKind::interval];
  EXPECT_EQ(intervals.count(), intervals[10]) << "no distance spans a slice that was left out";
}

}  // namespace
}  // namespace eventloom
