#include "io/event_files/hld_format.hpp"

#include <gtest/gtest.h>

#include "event_maker.hpp"

namespace eventloom {
namespace {

using namespace test;

constexpr std::uint32_t kDate = 0x006c000a;  ///< 2008-01-10
constexpr std::uint32_t kTime = 0x00151407;  ///< 21:20:07, the time of run 7

HldFormat make_format(HldClock clock = {}) {
  return {{"out", 7, 0}, EventSplitter(origins(), 1000), HldEventMaker(clock)};
}

Words written_hld(const MadeEvent& event, HldClock clock = {}) {
  auto format = make_format(clock);
  std::vector<std::byte> bytes;
  format.begin_file(0, bytes);
  bytes.clear();
  format.append(event.view(), 9, bytes);
  return words_of(bytes);
}

Words hld_event(std::uint32_t id, std::uint32_t number, const Words& subevents, std::uint32_t date = kDate,
                std::uint32_t time = kTime) {
  const auto size = static_cast<std::uint32_t>(32 + 4 * subevents.size());
  return Words{size, 0x00030001, id, number, date, time, 7, 0} + subevents;
}
Words hld_subevent(std::uint32_t tag, const Words& data, std::uint32_t id = 0x8000, std::uint32_t number = 77) {
  auto words = Words{static_cast<std::uint32_t>(16 + 4 * data.size()), 0x00020011, id, number << 8 | tag} + data;
  if (words.size() % 2 != 0) words.push_back(0);
  return words;
}

TEST(HldFormat, NamesHoldTheTimeOfTheRun) {
  const auto name = [](std::uint32_t run, unsigned builder, std::uint32_t number) {
    return HldFormat({"xx", run, builder}, EventSplitter({}, 1), HldEventMaker({})).file_name(number);
  };
  EXPECT_EQ(name(0, 0, 0), "xx08010212000.hld");
  EXPECT_EQ(name(595228551, 0, 0), "xx26325023551.hld");
  EXPECT_EQ(name(595228551, 3, 9), "xx2632502360003.hld");
  EXPECT_EQ(name(197035951, 0, 0), "xx14099093231.hld") << "a TRB3 recording of April 9, 2014, 11:32:31 in Cracow";
}

TEST(HldFormat, FilesAreRuns) {
  auto format = make_format();
  std::vector<std::byte> bytes;
  format.begin_file(2, bytes);
  const Words begin = {32, 0x00030001, 0x00010002, 0, kDate, kTime + 2, 9, 0x4c545645};
  EXPECT_EQ(words_of(bytes), begin);
  bytes.clear();
  format.end_file(bytes);
  EXPECT_EQ(words_of(bytes), (Words{32, 0x00030001, 0x00010003, 0, kDate, kTime + 2, 9, 0}));
  EXPECT_EQ(bytes.size(), format.end_bytes());
}

TEST(HldFormat, SubeventsOfOneEvent) {
  MadeEvent event;
  event.hld(55, 2, 55, 0x8000200d, 1, {1}).hld(55, 2, 55, 0x8000200d, 2, {1, 2});
  EXPECT_EQ(written_hld(event), hld_event(0x8000200d, 55, hld_subevent(1, {1}) + hld_subevent(2, {1, 2})));
}

TEST(HldFormat, AnEventWithoutSubevents) {
  MadeEvent event;
  event.hit(55, 2, 0x0fffffff, {3, 1 << 16, 0x2001, 55});
  EXPECT_EQ(written_hld(event), hld_event(0x2001, 55, {}));
}

/// Events built from several sources: numbers count the events of the output, as those of DABC's builder do.
TEST(HldFormat, SubeventsOfSeveralSources) {
  MadeEvent event;
  event.hld(55, 2, 55, 0x2000, 3, {1}).hld(55, 3, 55, 0x200d, 3, {2});
  EXPECT_EQ(written_hld(event), hld_event(0x200d, 9, hld_subevent(3, {1}) + hld_subevent(3, {2})));
}

TEST(HldFormat, TagsThatDifferAndErrorsAreFlagged) {
  MadeEvent event;
  event.hld(55, 2, 55, 0x2001, 3, {}).hld(55, 3, 55, 0x2001, 4, {});
  EXPECT_EQ(written_hld(event)[2], 0x80002001);
  MadeEvent error;
  error.hld(55, 2, 55, 0x2001, 3, {}).hld(55, 3, 55, 0x80002001, 3, {});
  EXPECT_EQ(written_hld(error)[2], 0x80002001);
}

TEST(HldFormat, OtherHitsFollowAsASubevent) {
  MadeEvent event;
  event.hit(50, 4, 0x1234, {8}).hld(55, 2, 55, 0x2001, 3, {1}).lmd(60, 0, 7, 1, {});
  const Words list = {1, 2, 1000, 0, 50, 0, 4, 0x1234, 1, 8, 60, 0, 0, 5, 6, 5, 1 << 16, 7, 2, 1 << 16 | 10, 5};
  auto format = HldFormat({"out", 7, 0}, EventSplitter({{}, {}, origins()[2], {}, {}}, 1000), HldEventMaker({}));
  std::vector<std::byte> bytes;
  format.begin_file(0, bytes);
  bytes.clear();
  format.append(event.view(), 9, bytes);
  EXPECT_EQ(words_of(bytes), hld_event(0x2001, 55, hld_subevent(3, {1}) + hld_subevent(0, list, 0x4c45, 55)));
}

TEST(HldFormat, OtherHitsAlone) {
  MadeEvent event;
  event.hit(5, 4, 1);
  const Words list = {1, 1, 1000, 0, 5, 0, 4, 1, 0};
  EXPECT_EQ(written_hld(event), hld_event(0x2001, 9, hld_subevent(0, list, 0x4c45, 9)));
}

TEST(HldFormat, DateAndTimeOfTheEventWhereTheyAreKnown) {
  MadeEvent event;
  event.hit(Tick(3'600'000'000'000), 4, 1);
  const auto words = written_hld(event, {.tick_0_ns = 1'795'228'551'999'999'999, .tick_ps = 1000});
  EXPECT_EQ(words[4], 0x007e0a15U);
  EXPECT_EQ(words[5], 0x00032333U);
}

}  // namespace
}  // namespace eventloom
