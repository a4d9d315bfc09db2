#include "io/event_files/lmd_format.hpp"

#include <gtest/gtest.h>

#include "event_maker.hpp"

namespace eventloom {
namespace {

using namespace test;

constexpr std::uint64_t kTickPs = 250;

Words written_lmd(const MadeEvent& event, std::uint64_t number = 9) {
  HldEventMaker hld({});
  hld.begin_run(7);
  LmdFormat format("out", LmdEventMaker(EventSplitter(origins(), kTickPs), hld));
  std::vector<std::byte> bytes;
  format.append(event.view(), number, bytes);
  return words_of(bytes);
}

Words lmd_event(std::uint32_t trigger, std::uint32_t number, const Words& subevents) {
  const auto dlen = static_cast<std::uint32_t>(4 + 2 * subevents.size());
  return Words{dlen, 1 << 16 | 10, trigger << 16, number} + subevents;
}
Words lmd_subevent(std::uint32_t id, const Words& data) {
  return Words{static_cast<std::uint32_t>(2 + 2 * data.size()), 1 << 16 | 10, id} + data;
}

TEST(LmdFormat, NamesCount) {
  LmdFormat format("out", LmdEventMaker(EventSplitter({}, 1), HldEventMaker({})));
  EXPECT_EQ(format.file_name(0), "out_0000.lmd");
  EXPECT_EQ(format.file_name(12345), "out_12345.lmd");
}

TEST(LmdFormat, SubeventsOfOneEvent) {
  MadeEvent event;
  event.lmd(100, 0, 55, 3, {1, 2}).lmd(100, 0, 55, 3, {});
  EXPECT_EQ(written_lmd(event), lmd_event(3, 55, lmd_subevent(5, {1, 2}) + lmd_subevent(5, {})));
}

TEST(LmdFormat, AnEventWithoutSubevents) {
  MadeEvent event;
  event.hit(100, 0, 0x0fffffff, {2, 14 << 16 | 6, 55});
  EXPECT_EQ(written_lmd(event), (Words{4, 1 << 16 | 10, 14 << 16 | 6, 55}));
}

/// The header is that of the first event, as with DABC's combiner.
TEST(LmdFormat, SubeventsOfSeveralEventsAndSources) {
  MadeEvent event;
  event.lmd(100, 0, 55, 3, {1}).lmd(101, 0, 56, 4, {2}).lmd(102, 1, 7, 1, {3});
  EXPECT_EQ(written_lmd(event), lmd_event(3, 55, lmd_subevent(5, {1}) + lmd_subevent(5, {2}) + lmd_subevent(5, {3})));
}

TEST(LmdFormat, OtherHitsFollowAsASubevent) {
  MadeEvent event;
  event.hit(Tick(0x100000005), 4, 0x1234, {8, 9})
      .lmd(Tick(0x100000006), 1, 55, 3, {1})
      .hit(Tick(0x100000007), 4, 0x1235);
  const Words list = {1, 2, kTickPs, 0, 5, 1, 4, 0x1234, 2, 8, 9, 7, 1, 4, 0x1235, 0};
  EXPECT_EQ(written_lmd(event), lmd_event(3, 55, lmd_subevent(5, {1}) + lmd_subevent(0x4c45, list)));
}

TEST(LmdFormat, OtherHitsAlone) {
  MadeEvent event;
  event.hit(5, 4, 1);
  EXPECT_EQ(written_lmd(event, 0x100000002), lmd_event(1, 2, lmd_subevent(0x4c45, {1, 1, kTickPs, 0, 5, 0, 4, 1, 0})));
}

TEST(LmdFormat, WithoutPayloadAtAll) {
  MadeEvent event;
  event.hit(5, 4, 1).payload_words.clear();
  EXPECT_EQ(written_lmd(event), lmd_event(1, 9, lmd_subevent(0x4c45, {1, 1, kTickPs, 0, 5, 0, 4, 1, 0})));
}

/// Hits that claim to be LMD but are not lose nothing either.
TEST(LmdFormat, HitsThatBreakTheRule) {
  MadeEvent event;
  event.hit(5, 0, 1, {17});
  EXPECT_EQ(written_lmd(event), lmd_event(1, 9, lmd_subevent(0x4c45, {1, 1, kTickPs, 0, 5, 0, 0, 1, 1, 17})));
}

TEST(LmdFormat, HldSubeventsAreAnHldEventInASubevent) {
  MadeEvent event;
  event.hld(100, 2, 55, 0x200d, 1, {1, 2});
  const Words hld = {32 + 24, 0x00030001, 0x200d,     55,     0x006c000a,  0x00151407, 7,
                     0,       24,         0x00020011, 0x8000, 77 << 8 | 1, 1,          2};
  EXPECT_EQ(written_lmd(event), lmd_event(13, 55, lmd_subevent(0x1f, hld)));
}

}  // namespace
}  // namespace eventloom
