#include "io/run_format/detector_record.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace eventloom {

namespace {

/// Source 1: channels 4 to 6 in two groups, 9 in none; source 0: all channels from 7 on.
KnownChannels example() {
  DetectorRecord record;
  record.map = "a text";
  record.file = "map.csv";
  constexpr double kNone = std::numeric_limits<double>::infinity();
  record.ranges.push_back({1, 4, 6, 0, false, -kNone, kNone, "top;B", "PMT"});
  record.ranges.push_back({1, 9, 9, 3, true, 5, kNone, "", "", {1, 2, 3}});
  record.ranges.push_back({0, 7, 0xfffffff, 0, false, -kNone, 77, "B", ""});
  return KnownChannels(record);
}

}  // namespace

TEST(KnownChannels, AreFoundBySourceAndNumber) {
  const auto known = example();
  EXPECT_EQ(known.name_of(1, 4), "PMT");
  EXPECT_EQ(known.name_of(1, 6), "PMT");
  for (const std::uint32_t channel : {0U, 3U, 7U, 8U, 10U}) EXPECT_EQ(known.at(1, channel), nullptr) << channel;
  ASSERT_NE(known.at(1, 9), nullptr);
  EXPECT_EQ(known.at(1, 9)->offset, 3);
  EXPECT_EQ(known.at(0, 6), nullptr);
  ASSERT_NE(known.at(0, 0xfffffff), nullptr);
  EXPECT_EQ(known.at(0, 0xfffffff)->max_payload, 77);
  EXPECT_EQ(known.at(2, 9), nullptr);
  EXPECT_EQ(known.place_of(2, 9), 3U);
  EXPECT_TRUE(KnownChannels().empty() && KnownChannels().at(0, 0) == nullptr);
}

TEST(KnownChannels, HaveGroupsOfAllRangesByName) {
  const auto known = example();
  EXPECT_EQ(known.groups(), (std::vector<std::string>{"B", "top"}));
  EXPECT_EQ(known.groups_of(*known.at(1, 5)), (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(known.groups_of(*known.at(0, 7)), (std::vector<std::size_t>{0}));
  EXPECT_TRUE(known.groups_of(*known.at(1, 9)).empty());
}

TEST(KnownChannels, CutsAndPositionsAreKnownAsSuch) {
  const auto known = example();
  EXPECT_FALSE(known.at(1, 5)->cut() || known.at(1, 5)->has_position());
  EXPECT_TRUE(known.at(1, 9)->cut() && known.at(1, 9)->has_position());
  EXPECT_TRUE(known.at(0, 7)->cut());
}

}  // namespace eventloom
