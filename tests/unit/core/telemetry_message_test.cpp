#include "core/monitor/telemetry_message.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <stdexcept>

#include "core/monitor/run_picture.hpp"

namespace eventloom {
namespace {

RankRecord full_record() {
  RankRecord record;
  record.head.slices_sent = 7;
  record.head.resident_bytes = 1 << 20;
  record.counters[Metric::events] = 12;
  record.of_sources[3] = Counters{{Metric::missing_numbers, 5}, {Metric::first_number, 0}};
  record.sources[3] = {3, SourceState::full, 100, 4096};
  record.builders[0] = {0, 0, 4, 12, 90, 1000};
  record.writers[1] = {1, 0, 4, 11, 3, 1};
  record.links[0] = {0, 2, 8, 0, 4096};
  record[HistogramKind::duration].add(17);
  record.events.push_back({{1000, 20, 1, 2, 3, 2, 1}, {{0, 5, 3, 2, {77}}, {20, 6, 3, 0, {}}}});
  record.events.push_back({{2000, 0, 1, 0, 9, 0, 0}, {}});
  record.channels = {{3, 0xfffffff, 40}, {65535, ChannelRow::kOthers, 2}};
  return record;
}

void expect_same(const RankRecord& a, const RankRecord& b) {
  EXPECT_EQ(std::memcmp(&a.head.slices_sent, &b.head.slices_sent, sizeof a.head - 8), 0);
  EXPECT_EQ(a.counters, b.counters);
  EXPECT_EQ(a.of_sources, b.of_sources);
  EXPECT_EQ(a.sources, b.sources);
  EXPECT_EQ(a.builders, b.builders);
  EXPECT_EQ(a.writers, b.writers);
  EXPECT_EQ(a.links, b.links);
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.channels, b.channels);
  for (std::size_t h = 0; h < kHistograms; ++h) {
    for (std::size_t bin = 0; bin < LogHistogram::kBins; ++bin) EXPECT_EQ(a.histograms[h][bin], b.histograms[h][bin]);
    EXPECT_EQ(a.histograms[h].sum(), b.histograms[h].sum());
  }
}

TEST(TelemetryMessage, SendsAllThatIsNew) {
  RankRecord heard;
  apply_telemetry(encode_telemetry(full_record(), {}), heard);
  expect_same(heard, full_record());
}

TEST(TelemetryMessage, WhatWasReceivedCanBeSent) {
  RankRecord heard;
  apply_telemetry(encode_telemetry(full_record(), {}), heard);
  RankRecord again;
  apply_telemetry(encode_telemetry(heard, {}), again);
  expect_same(again, full_record());
}

TEST(TelemetryMessage, SendsChangesOnly) {
  const auto before = full_record();
  auto now = before;
  now.events.clear();
  now.channels.clear();
  EXPECT_EQ(encode_telemetry(now, before).size(), sizeof(TelemetryHead));
  ++now.counters[Metric::events];
  now[HistogramKind::duration].add(17);
  now.links[1] = {1, 0, 8, 0, 0};
  const auto message = encode_telemetry(now, before);
  EXPECT_EQ(message.size(), sizeof(TelemetryHead) + 3 * sizeof(TelemetrySection) + sizeof(CounterRow) +
                                2 * sizeof(BinRow) + sizeof(LinkRow));
  RankRecord heard = before;
  apply_telemetry(message, heard);
  expect_same(heard, now);
}

TEST(TelemetryMessage, RefusesHitsOfAnImpossibleSource) {
  RankRecord record;
  record.channels = {{65536, 1, 1}};
  RankRecord heard;
  EXPECT_THROW(apply_telemetry(encode_telemetry(record, {}), heard), std::runtime_error);
}

/// Counts of channels are increments; all others are totals.
TEST(TelemetryMessage, HitsOfChannelsAddUp) {
  RunPicture picture(2);
  const RunPicture::Time now{};
  picture.take(0, encode_telemetry(full_record(), {}), now);
  picture.take(0, encode_telemetry(full_record(), full_record()), now);
  picture.take(1, encode_telemetry(full_record(), {}), now);
  EXPECT_EQ(picture.channels().busiest(10),
            (std::vector<ChannelCounts::OfSource>{{3, {{0xfffffff, 120}}, 0}, {65535, {}, 6}}));
}

TEST(TelemetryMessage, RefusesTruncatedOnes) {
  const auto message = encode_telemetry(full_record(), {});
  for (std::size_t n = 0; n < message.size(); ++n) {
    RankRecord heard;
    EXPECT_THROW(apply_telemetry(std::span(message).first(n), heard), std::runtime_error) << n;
    expect_same(heard, {});
  }
}

TEST(TelemetryMessage, SurvivesAnyBytes) {
  std::mt19937_64 random(1);
  const auto message = encode_telemetry(full_record(), {});
  for (int i = 0; i < 20'000; ++i) {
    auto bytes = message;
    for (auto n = 1 + random() % 4; n > 0; --n) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    if (random() % 4 == 0) bytes.resize(random() % (bytes.size() + 20));
    RankRecord heard;
    try {
      apply_telemetry(bytes, heard);
    } catch (const std::runtime_error&) {
      expect_same(heard, {});
    }
  }
}

TEST(RunPicture, SharesAreOfTheRanksThatStillSend) {
  const auto share = [](std::initializer_list<std::pair<std::uint64_t, std::uint64_t>> sent_of_expected) {
    RunPicture picture(static_cast<int>(sent_of_expected.size()));
    int rank = 0;
    for (const auto& [sent, expected] : sent_of_expected) {
      RankRecord record;
      record.head.slices_sent = sent;
      record.head.slices_expected = expected;
      record.sources[0] = {};
      picture.take(rank++, encode_telemetry(record, {}), {});
    }
    return picture.share_sent();
  };
  EXPECT_EQ(share({{20, 100}, {30, 120}}), 20.0 / 120);
  EXPECT_EQ(share({{10, 10}, {60, 120}}), 0.5) << "the first has none left";
  EXPECT_EQ(share({{10, 10}, {120, 120}}), 1);
  EXPECT_EQ(share({{10, 10}, {60, 0}}), std::nullopt);
}

TEST(LogHistogram, BinsFollowEachOther) {
  for (std::size_t bin = 0; bin < LogHistogram::kBins; ++bin) {
    const auto begin = LogHistogram::begin_of(bin);
    EXPECT_EQ(LogHistogram::bin_of(begin), bin);
    if (bin == 0) continue;
    EXPECT_EQ(LogHistogram::bin_of(begin - 1), bin - 1);
  }
  EXPECT_EQ(LogHistogram::bin_of(~std::uint64_t{0}), LogHistogram::kBins - 1);
  for (std::size_t value = 0; value < 128; ++value) EXPECT_EQ(LogHistogram::bin_of(value), value);
}

}  // namespace
}  // namespace eventloom
