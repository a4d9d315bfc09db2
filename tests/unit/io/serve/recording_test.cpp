#include <gtest/gtest.h>

#include "core/runtime/error.hpp"
#include "io/serve/mbs_sender_recording.hpp"
#include "io/serve/play_lmd.hpp"
#include "lmd_maker.hpp"

namespace eventloom::test {
namespace {

using Numbers = std::vector<std::uint32_t>;

class MbsRecordingTest : public LmdTest {
 protected:
  static std::string stamped(std::uint32_t number, std::uint32_t low) {
    return event(number, subevent(1, {0x100, 0x03e10000 | low, 0x04e10002, 0x05e10000, 0x06e10000}));
  }
  static std::vector<PlayedFile> played(const std::vector<SourceUri>& uris) {
    std::vector<PlayedFile> files;
    for (const auto& uri : uris) files.push_back({uri, play_lmd});
    return files;
  }
  static Numbers numbers_of(MbsRecording& recording) {
    Numbers numbers;
    while (recording.next()) numbers.push_back(recording.event().number);
    return numbers;
  }
};

TEST_F(MbsRecordingTest, FilesFollowEachOther) {
  const std::vector files = {SourceUri::of_path("lmd", write(flat_header() + plain_event(7) + plain_event(8), "a.lmd")),
                             SourceUri::of_path("lmd", write(flat_header() + plain_event(9), "b.lmd"))};
  MbsRecording recording(played(files), 1);
  EXPECT_EQ(numbers_of(recording), (Numbers{7, 8, 9}));
  EXPECT_FALSE(recording.next());
  recording.rewind();
  EXPECT_EQ(numbers_of(recording), (Numbers{7, 8, 9}));
  EXPECT_EQ(recording.damaged_places(), 0U);
}

TEST_F(MbsRecordingTest, NumbersContinueInRepetitions) {
  const std::vector files = {
      SourceUri::of_path("lmd", write(flat_header() + plain_event(0xfffffffe) + plain_event(0xffffffff), "a.lmd")),
      SourceUri::of_path("lmd", write(flat_header() + plain_event(0) + plain_event(3), "b.lmd"))};
  MbsRecording recording(played(files), 3);
  const Numbers expected = {0xfffffffe, 0xffffffff, 0, 3, 4, 5, 6, 9, 10, 11, 12, 15};
  EXPECT_EQ(numbers_of(recording), expected);
  recording.rewind();
  EXPECT_EQ(numbers_of(recording), expected);
}

TEST_F(MbsRecordingTest, FilesWithoutEventsEndHoweverOftenTheyAreRead) {
  const std::vector files = {SourceUri::of_path("lmd", write(flat_header(), "a.lmd"))};
  MbsRecording recording(played(files), ~0ULL);
  EXPECT_FALSE(recording.next());
}

TEST_F(MbsRecordingTest, DamagedPlacesAreCounted) {
  const auto whole = flat_header() + plain_event(1) + plain_event(2);
  const std::vector files = {SourceUri::of_path("lmd", write(whole.substr(0, whole.size() - 5), "a.lmd"))};
  MbsRecording recording(played(files), 2);
  EXPECT_EQ(numbers_of(recording), (Numbers{1, 2}));
  EXPECT_EQ(recording.damaged_places(), 2U);
}

TEST_F(MbsRecordingTest, TimesAreStampsInNanosecondsRoundedDown) {
  const auto path = write(flat_header() + stamped(1, 1999) + plain_event(2), "a.lmd");
  const std::vector files = {SourceUri::parse("lmd:" + path + "?time=wr&unit=ps")};
  MbsRecording recording(played(files), 1);
  EXPECT_EQ(recording.untimed(), nullptr);
  ASSERT_TRUE(recording.next());
  EXPECT_EQ(recording.time(), Tick{((2 << 16) + 1999) / 1000});
  ASSERT_TRUE(recording.next());
  EXPECT_EQ(recording.time(), std::nullopt);
}

TEST_F(MbsRecordingTest, EventNumbersAreNoTimes) {
  const std::vector files = {SourceUri::of_path("lmd", write(flat_header() + plain_event(1), "a.lmd"))};
  MbsRecording recording(played(files), 1);
  ASSERT_NE(recording.untimed(), nullptr);
  ASSERT_TRUE(recording.next());
  EXPECT_EQ(recording.time(), std::nullopt);
}

TEST_F(MbsRecordingTest, WhatCannotBeSentIsRefusedAtOnce) {
  const auto refuses = [](const std::vector<SourceUri>& files) {
    EXPECT_THROW(MbsRecording(played(files), 1), UserError);
  };
  const auto good = SourceUri::of_path("lmd", write(flat_header() + plain_event(1), "a.lmd"));
  refuses({});
  refuses({good, SourceUri::of_path("lmd", "missing.lmd")});
  refuses({good, SourceUri::of_path("lmd", write("no header", "b.lmd"))});
  refuses({good.with("payload", "1")});
}

}  // namespace
}  // namespace eventloom::test
