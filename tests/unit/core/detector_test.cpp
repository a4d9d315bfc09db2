#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/slice_builder_settings.hpp"
#include "core/dataflow/time_sort.hpp"
#include "core/detector/channel_table.hpp"
#include "core/detector/csv_table.hpp"
#include "core/detector/resolve_detector.hpp"
#include "core/detector/value_table.hpp"
#include "core/runtime/error.hpp"
#include "formats/offset_span.hpp"

namespace eventloom {
namespace {

DetectorSources sources() { return {{"rec/top_0.epochs", "rec/top_1.epochs", "rec/side.epochs"}, 1000, false}; }

Detector detector_of(const std::string& text) {
  return resolve_detector(parse_detector_map(text, "map.csv"), {}, sources());
}

std::string error_of_map(const std::string& text) {
  try {
    static_cast<void>(detector_of(text));
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(CsvTable, ReadsQuotesCommentsAndBothLineEnds) {
  const auto lines = parse_csv("\xef\xbb\xbf# note\r\n\n a , \"b, \"\"c\"\"\" ,\r\n\"\",d");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].number, 3U);
  EXPECT_EQ(lines[0].fields, (std::vector<std::string>{"a", "b, \"c\"", ""}));
  EXPECT_EQ(lines[1].fields, (std::vector<std::string>{"", "d"}));
}

TEST(DetectorMap, LaterRowsOverruleColumnByColumn) {
  const auto detector = detector_of(
      "source,channel,offset_ns,mask,group,name\n"
      ",,7,,all,any\n"
      "top_*,0x10-0x1f,-3,1,,\n"
      "1,0x12,,0,A;B,here\n");
  EXPECT_EQ(detector.at(2, 5).offset, 7);
  EXPECT_EQ(detector.at(0, 0x1f).offset, -3);
  EXPECT_TRUE(detector.at(0, 0x12).masked);
  EXPECT_EQ(detector.at(0, 0x12).name, "any");
  const auto& last = detector.at(1, 0x12);
  EXPECT_EQ(last.offset, -3);
  EXPECT_FALSE(last.masked);
  EXPECT_EQ(last.name, "here");
  EXPECT_EQ(detector.groups(), (std::vector<std::string>{"all", "A", "B"}));
  EXPECT_EQ(last.groups, 0b110U);
  EXPECT_EQ(detector.at(1, 0x13).groups, 0b001U);
}

TEST(DetectorMap, OffsetsAreRoundedToTheNearestTick) {
  const auto offset = [](const std::string& column, const std::string& value) {
    return detector_of(column + "\n" + value + "\n").at(0, 0).offset;
  };
  EXPECT_EQ(offset("offset_ns", "2.4999"), 2);
  EXPECT_EQ(offset("offset_ns", "2.5"), 3);
  EXPECT_EQ(offset("offset_ns", "-2.5"), -3);
  EXPECT_EQ(offset("offset_ps", "-1499"), -1);
  EXPECT_EQ(offset("offset_us", "0.0015"), 2);
  EXPECT_EQ(offset("offset_ticks", "+1e3"), 1000);
}

TEST(DetectorMap, SelectsSourcesByNumberNameAndGlob) {
  const auto selected = [](const std::string& source) {
    const auto detector = detector_of("source,mask\n" + source + ",1\n");
    return std::vector<bool>{detector.at(0, 0).masked, detector.at(1, 0).masked, detector.at(2, 0).masked};
  };
  EXPECT_EQ(selected("1"), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(selected("0-1"), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(selected("rec/side.epochs"), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(selected("side.epochs"), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(selected("*top*"), (std::vector<bool>{true, true, false}));
}

TEST(DetectorMap, GainAndZeroMakeValues) {
  const auto detector = detector_of(
      "source,channel,gain,zero,unit\n"
      ",,0.5,,keV\n"
      "1,5-6,,-3,\n"
      "1,6,-2,,MeV\n");
  const ValueTable value(detector, {PayloadKind::u32, PayloadKind::i32});
  const auto of = [&](std::uint16_t source, std::uint32_t channel, std::vector<std::uint32_t> words) {
    return value(source, channel, words);
  };
  EXPECT_EQ(of(0, 5, {0xfffffffd, 9}), 0.5 * 4294967293.0);
  EXPECT_EQ(of(1, 5, {0xfffffffd}), -4.5);
  EXPECT_EQ(of(1, 6, {7}), -17.0);
  EXPECT_EQ(of(2, 6, {7}), 3.5);
  EXPECT_TRUE(std::isnan(of(0, 5, {})));
  EXPECT_TRUE(detector.calibrates());
  EXPECT_EQ(detector.unit(), "");
  EXPECT_EQ(detector_of("channel,gain,unit\n3,2,keV\n4,3,keV\n").unit(), "keV");
}

TEST(DetectorMap, WithoutGainTheValueIsTheNumber) {
  const auto detector = detector_of("channel,gain,unit\n3,2,keV\n");
  const ValueTable value(detector, {PayloadKind::f64, PayloadKind::f32});
  const auto bits = std::bit_cast<std::uint64_t>(-0.1);
  const std::vector<std::uint32_t> words{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
  EXPECT_EQ(value(0, 4, words), -0.1);
  EXPECT_EQ(value(0, 3, words), -0.2);
  EXPECT_TRUE(std::isnan(value(0, 4, std::span(words).first(1))));
  EXPECT_EQ(value(1, 4, std::vector{std::bit_cast<std::uint32_t>(2.5F)}), 2.5);
  EXPECT_EQ(value(9, 3, std::vector<std::uint32_t>{8}), 8.0);
  EXPECT_FALSE(detector_of("channel,mask\n3,1\n").calibrates());
}

TEST(DetectorMap, MistakesNameRowAndColumn) {
  EXPECT_EQ(error_of_map("source,mask\n0,1\n1,2\n"), "map.csv: row 2 (line 3): column mask: expected 0 or 1, not '2'");
  EXPECT_EQ(error_of_map("gain\nnan\n"), "map.csv: row 1 (line 2): column gain: expected a number, not 'nan'");
  EXPECT_NE(error_of_map("gain\n0\n").find("expected a number other than 0"), std::string::npos);
  EXPECT_NE(error_of_map("zero\n1keV\n").find("expected a number, not '1keV'"), std::string::npos);
  EXPECT_NE(error_of_map("sorce\n").find("did you mean 'source'"), std::string::npos);
  EXPECT_NE(error_of_map("source\nfront\n").find("selects none of the 3 sources"), std::string::npos);
  auto numbered = sources();
  numbered.numbered = true;
  EXPECT_THROW(static_cast<void>(resolve_detector(parse_detector_map("offset_ns\n1\n", "m"), {}, numbered)), UserError);
  EXPECT_EQ(resolve_detector(parse_detector_map("offset_ticks\n1\n", "m"), {}, numbered).at(0, 0).offset, 1);
}

TEST(DetectorMap, OptionsAddGroups) {
  const std::vector<GroupOption> groups{parse_group_option("B=source:1-2"), parse_group_option("A=channel:7")};
  const auto detector = resolve_detector(parse_detector_map("channel,group\n7,A\n8,B\n", "m"), groups, sources());
  EXPECT_EQ(detector.at(0, 7).groups, 0b01U);
  EXPECT_EQ(detector.at(1, 7).groups, 0b11U);
  EXPECT_EQ(detector.at(0, 8).groups, 0b10U);
}

/// Looks values up in a table and in pieces, also where both ends have one value or two.
TEST(ChannelTable, HasTheValuesOfTheDetector) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    Detector detector(1);
    const std::uint32_t reach = round % 3 == 0 ? 0xfffffff : round % 3 == 1 ? 2000 : 5;
    for (int n = 0; n < 6; ++n) {
      const auto low = static_cast<std::uint32_t>(random() % (reach + 1U));
      const auto high = low + static_cast<std::uint32_t>(random() % (reach - low + 1U));
      const auto offset = static_cast<std::int64_t>(random() % 3);
      detector.change({0, low, high}, [&](ChannelInfo& info) { info.offset = offset; });
    }
    const ChannelTable<std::int64_t> table(detector, [](const ChannelInfo& info) { return info.offset; });
    const auto values = table.of(0);
    const auto expect_at = [&](std::uint32_t channel) {
      ASSERT_EQ(values[channel], detector.at(0, channel).offset) << "channel " << channel << ", round " << round;
    };
    detector.visit(0, [&](std::uint32_t low, const ChannelInfo&) {
      for (const auto channel : {low, low - (low > 0 ? 1 : 0), low + (low < 0xfffffff ? 1 : 0)}) expect_at(channel);
    });
    for (const std::uint32_t channel : {0U, 0xfffffffU}) expect_at(channel);
  }
}

/// With epochs of 10 ticks: a slice is sent exactly those epochs with a tick that an offset moves into its window.
TEST(OffsetSpan, SendsWhatMayBeMovedIntoTheWindow) {
  SliceGeometry geometry{{1000, 10}, 3, 12, 2};
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const auto a = static_cast<std::int64_t>(random() % 120) - 60;
    const OffsetSpan span{a, a + static_cast<std::int64_t>(random() % 40)};
    const SliceId slice{random() % 6};
    const auto window = geometry.sent_epochs(slice);
    const auto sent = sent_epochs(geometry, slice, span);
    for (Epoch epoch = 0; epoch < 60; ++epoch) {
      bool needed = slice.value == 0 && epoch < sent.end;
      const Tick begin = tick_of_epoch(epoch, 10);
      for (Tick tick = begin; tick < begin + 10; ++tick) {
        for (auto offset = span.least; offset <= span.most; ++offset) {
          const auto corrected = static_cast<std::int64_t>(tick) + offset;
          needed = needed || (corrected >= 0 && window.contains(epoch_of(Tick(corrected), 10)));
        }
      }
      ASSERT_FALSE(needed && !sent.contains(epoch)) << "epoch " << epoch.value << ", slice " << slice.value;
      ASSERT_FALSE(!needed && sent.contains(epoch) && sent.end - sent.begin > 1) << "epoch " << epoch.value;
      if (span.none()) continue;
      ASSERT_LE(tick_of_epoch(first_corrected(epoch, span, 10), 10), shifted(begin, span.least));
      ASSERT_GE(tick_of_epoch(last_corrected(epoch, span, 10), 10) + 9, shifted(begin + 9, span.most));
    }
  }
}

TEST(TimeSort, KeepsTheOrderOfHitsAtOneTick) {
  std::mt19937 random(11);
  TimeSort sort;
  for (const std::uint32_t n : {0U, 1U, 5U, 3000U, 100'000U}) {
    for (const std::uint64_t n_ticks : {1ULL, 2ULL, 100ULL, 1'000'000ULL, 0xfffffff0ULL}) {
      std::vector<HitKey> keys;
      for (std::uint32_t i = 0; i < n; ++i) keys.push_back(make_key(static_cast<std::uint32_t>(random() % n_ticks), i));
      auto expected = keys;
      std::ranges::sort(expected);
      const auto found = sort.sort(keys, Tick(n_ticks));
      ASSERT_TRUE(std::ranges::equal(found, expected)) << n << " hits in " << n_ticks << " ticks";
    }
  }
}

}  // namespace
}  // namespace eventloom
