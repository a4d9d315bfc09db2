#include <gtest/gtest.h>

#include <string>

#include "core/runtime/error.hpp"
#include "io/compass/compass_flags.hpp"
#include "io/compass/compass_record.hpp"
#include "io/compass/compass_text.hpp"

namespace eventloom {
namespace {

TEST(CompassColumns, AreFoundInAnyOrder) {
  const auto columns = CompassColumns::of_header(
      "\xef\xbb\xbf"
      "FLAGS, TIMETAG ,BOARD,EXTRA,CHANNEL,CALIB_ENERGY,SAMPLES\r");
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->defect, "");
  EXPECT_EQ(columns->flags, 0U);
  EXPECT_EQ(columns->time, 1U);
  EXPECT_EQ(columns->board, 2U);
  EXPECT_EQ(columns->channel, 4U);
  EXPECT_EQ(columns->calibrated, 5U);
  EXPECT_EQ(columns->energy, CompassColumns::kNone);
  EXPECT_EQ(columns->count, 6U) << "samples take any number of columns";
  EXPECT_TRUE(columns->samples);
  EXPECT_EQ(columns->unread, std::vector<std::string>{"EXTRA"});
}

TEST(CompassColumns, OtherLinesAreNoHeader) {
  for (const char* line : {"", "t_ns,ch,energy", "board;channel;timetag;energy;flags", "BOARD;CHANNEL;ENERGY;FLAGS",
                           "0;1;1000;5;0x4000", "\xe1\xca"}) {
    EXPECT_FALSE(CompassColumns::of_header(line)) << line;
  }
}

TEST(CompassColumns, ADefectIsNamed) {
  const auto defect_of = [](const char* line) { return CompassColumns::of_header(line)->defect; };
  EXPECT_NE(defect_of("BOARD;CHANNEL;TIMETAG;ENERGY"), "");
  EXPECT_NE(defect_of("BOARD;CHANNEL;TIMETAG;FLAGS"), "");
  EXPECT_NE(defect_of("BOARD;CHANNEL;TIMETAG;ENERGY;FLAGS;BOARD"), "");
  EXPECT_NE(defect_of("BOARD;CHANNEL;TIMETAG;ENERGY;SAMPLES;FLAGS"), "");
}

CompassFlags flags_of(const std::string& keys) { return CompassFlags(SourceUri::parse("compass:a.bin" + keys)); }

TEST(CompassFlags, FakeRecordsAreLeftOutUnlessAllAreKept) {
  for (const char* keys : {"", "?drop=fake", "?drop=saturated", "?drop=pileup,saturated"}) {
    EXPECT_TRUE(flags_of(keys).drops(kFake | 0x2)) << keys;
    EXPECT_TRUE(flags_of(keys).drops(kShutDown)) << keys << ": an alarm is no pulse";
    EXPECT_FALSE(flags_of(keys).drops(0x4000)) << keys;
  }
  EXPECT_FALSE(flags_of("?drop=none").drops(~std::uint32_t{0}));
  EXPECT_FALSE(flags_of("?drop=").drops(~std::uint32_t{0}));
}

TEST(CompassFlags, KindsAreLeftOutByName) {
  EXPECT_TRUE(flags_of("?drop=saturated").drops(kSaturatedGate));
  EXPECT_TRUE(flags_of("?drop=fake,saturated").drops(kSaturatedInput));
  EXPECT_FALSE(flags_of("?drop=saturated").drops(kPileUp));
  EXPECT_TRUE(flags_of("?drop=pileup").drops(kPileUp));
  for (const char* keys : {"?drop=fakes", "?drop=fake,", "?drop=none,fake"}) {
    EXPECT_THROW(flags_of(keys), UserError) << keys;
  }
}

TEST(CompassFlags, EachKindIsCounted) {
  auto flags = flags_of("");
  for (const std::uint32_t seen : {0x0U, 0x8U, 0x80U, 0x480U, 0x8000U, 0x1U, 0x70U, 0x80008U}) flags.count(seen);
  EXPECT_EQ(flags.counters()[Metric::fake_events], 2U);
  EXPECT_EQ(flags.counters()[Metric::saturated_events], 2U);
  EXPECT_EQ(flags.counters()[Metric::pile_up_events], 1U);
  EXPECT_EQ(flags.counters()[Metric::events_after_loss], 2U);
  EXPECT_EQ(flags.counters()[Metric::board_alarms], 1U);
}

}  // namespace
}  // namespace eventloom
