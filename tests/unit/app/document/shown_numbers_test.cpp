#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/document/detector_names.hpp"
#include "app/document/series_colour.hpp"
#include "app/document/tick_text.hpp"
#include "formats/channel_text.hpp"

namespace eventloom {
namespace {

/// The same examples as in tests/system/test_pictures.py, which gives them to the page.
TEST(ChannelText, HasSystemAndSubsystem) {
  const std::vector<std::pair<std::uint32_t, std::string>> cases = {{0, "0"},
                                                                    {3, "3"},
                                                                    {65535, "65535"},
                                                                    {0x10000, "0/1/0"},
                                                                    {1U << 22, "1/0/0"},
                                                                    {1U << 22 | 2U << 16 | 3, "1/2/3"},
                                                                    {62U << 16 | 255U << 8 | 7, "0/62/65287"},
                                                                    {0xfffffff, "63/63/65535"}};
  for (const auto& [id, text] : cases) EXPECT_EQ(channel_text(id), text);
}

TEST(SeriesColour, DiffersForEachOfManyNumbers) {
  std::set<std::string> colours;
  for (std::size_t n = 0; n < 512; ++n) colours.insert(series_colour(n));
  EXPECT_EQ(colours.size(), 512U);
  EXPECT_EQ(series_colour(6), "#666666");
  EXPECT_EQ(colour_number_of_group(5), 5U);
  EXPECT_EQ(colour_number_of_group(6), 7U) << "grey means no group";
}

TEST(TickText, DiffersFromTickToTick) {
  const std::vector<std::pair<double, double>> ranges = {{1000000.0001, 1000000.0005},
                                                         {-1e9 - 3, -1e9},
                                                         {0, 1},
                                                         {511.0001, 511.0002},
                                                         {1e15, 1e15 + 7},
                                                         {-0.003, 0.004},
                                                         {12340, 12390}};
  for (const auto& [low, high] : ranges) {
    const auto ticks = even_ticks(low, high, 5);
    const auto texts = tick_texts(ticks);
    ASSERT_GE(ticks.size(), 3U) << low;
    EXPECT_EQ(std::set(texts.begin(), texts.end()).size(), texts.size()) << low;
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      const double scale = texts[i].ends_with('k')   ? 1e3
                           : texts[i].ends_with('M') ? 1e6
                           : texts[i].ends_with('G') ? 1e9
                                                     : 1;
      EXPECT_NEAR(std::atof(texts[i].c_str()) * scale, ticks[i], (high - low) * 1e-3) << texts[i];
    }
  }
}

TEST(TickText, EndsWhereNumbersCannotDiffer) {
  EXPECT_LE(even_ticks(1e18, 1e18 + 100, 5).size(), 2U);
  EXPECT_TRUE(even_ticks(1, 1, 5).empty());
}

TEST(DetectorNames, AreThoseThatAllAgreeOn) {
  DetectorRecord record;
  record.map = "a text";
  const auto add = [&](std::uint32_t source, std::uint32_t first, std::uint32_t last, const char* name,
                       const char* groups) {
    DetectorRange range;
    range.source = source;
    range.first_channel = first;
    range.last_channel = last;
    range.name = name;
    range.groups = groups;
    record.ranges.push_back(range);
  };
  constexpr std::uint32_t kLast = 0xfffffff;
  add(0, 0, 4, "clover", "");
  add(0, 5, kLast, "clover", "A");
  add(1, 0, kLast, "", "veto");
  add(2, 5, 5, "five", "A");
  add(2, 6, 6, "six", "A");
  add(3, 6, 6, "other", "");
  const KnownChannels known(record);
  EXPECT_EQ(source_label(known, 0), "clover");
  EXPECT_EQ(source_label(known, 1), "veto");
  EXPECT_EQ(source_label(known, 2), "") << "only two of its channels are known";
  EXPECT_EQ(source_label(known, 9), "");
  EXPECT_EQ(common_channel_names(known), (ChannelNames{{5, "five"}}));
}

}  // namespace
}  // namespace eventloom
