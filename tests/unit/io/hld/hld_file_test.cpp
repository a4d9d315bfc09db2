#include "io/hld/hld_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "core/runtime/error.hpp"
#include "hld_maker.hpp"

namespace eventloom {
namespace {

using namespace test;

/// The items of a file in words: "1" is an event by its number, "event@32" damage by its extent and offset.
std::vector<std::string> items_of(const Bytes& bytes) {
  const TemporaryFile temporary(bytes);
  HldFile file(temporary.path());
  std::vector<std::string> items;
  for (auto item = file.next(); item != HldFile::Item::end; item = file.next()) {
    if (item == HldFile::Item::event) {
      items.push_back(std::to_string(file.event().number));
    } else {
      const auto& damage = file.damage();
      const auto extent = static_cast<std::size_t>(damage.extent);
      items.push_back(std::string(std::array{"event", "stretch", "rest"}[extent]) + "@" +
                      std::to_string(damage.offset));
      EXPECT_FALSE(damage.text.empty());
    }
  }
  EXPECT_EQ(file.next(), HldFile::Item::end);
  return items;
}

using Items = std::vector<std::string>;
constexpr std::size_t kPlainBytes = 32 + 24;

std::vector<std::uint32_t> words_of(const HldSubevent& subevent) {
  std::vector<std::uint32_t> words;
  subevent.copy_words(words);
  return words;
}

TEST(HldFile, GivesHeadersAndDataOfBothByteOrders) {
  for (const bool event_big : {false, true}) {
    for (const bool subevent_big : {false, true}) {
      const SubeventSpec spec{.id = 0x80008010,
                              .words = {0x01020304, 0xfffefdfc, 3},
                              .big_endian = subevent_big,
                              .decoding = 0x000200d1,
                              .trigger_number = 0x12345678};
      const TemporaryFile temporary(
          event({.number = 77, .id = 0x8000200d, .big_endian = event_big, .run = 99}, {subevent(spec)}));
      HldFile file(temporary.path());
      ASSERT_EQ(file.next(), HldFile::Item::event);
      const auto& event = file.event();
      EXPECT_EQ(event.big_endian, event_big);
      EXPECT_EQ(event.number, 77U);
      EXPECT_EQ(event.run, 99U);
      EXPECT_EQ(event.date, 0x007e0a15U);
      EXPECT_EQ(event.time, 0x00022333U);
      EXPECT_EQ(event.trigger(), 13U);
      EXPECT_TRUE(event.has_error());
      ASSERT_EQ(event.subevents.size(), 1U);
      const auto& sub = event.subevents[0];
      EXPECT_EQ(sub.big_endian, subevent_big);
      EXPECT_EQ(sub.size, 28U);
      EXPECT_EQ(sub.decoding, 0x000200d1U);
      EXPECT_EQ(sub.id, 0x80008010U);
      EXPECT_TRUE(sub.has_error());
      EXPECT_EQ(sub.trigger_number, 0x12345678U);
      EXPECT_EQ(sub.offset, 32U);
      EXPECT_EQ(words_of(sub), spec.words);
      EXPECT_EQ(file.next(), HldFile::Item::end);
    }
  }
}

TEST(HldFile, SwapsByTheLengthOfTheWord) {
  const Bytes data = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<std::vector<std::uint32_t>> expected = {{0x04030201, 0x08070605, 0x9},
                                                            {0x03040102, 0x07080506, 0x9},
                                                            {0x01020304, 0x05060708, 0x9},
                                                            {0x05060708, 0x01020304, 0x9}};
  for (std::uint32_t log2 = 0; log2 < 4; ++log2) {
    Bytes sub;
    for (const auto word : {16U + 9U, log2 << 16 | 0x11U, 0x8000U, 0U}) put(sub, word, true);
    append(sub, data);
    pad(sub);
    const TemporaryFile temporary(event({}, {sub}));
    HldFile file(temporary.path());
    ASSERT_EQ(file.next(), HldFile::Item::event);
    EXPECT_EQ(words_of(file.event().subevents.at(0)), expected[log2]) << "2^" << log2;
  }
}

TEST(HldFile, ReversesLongDataAtAnyPlace) {
  std::vector<std::uint32_t> words(1001);
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = i * 0x01234567U;
  for (std::size_t n = 0; n < words.size(); n += n < 40 ? 1 : 97) {
    const std::vector<std::uint32_t> some(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(n));
    const TemporaryFile temporary(event({}, {subevent({.words = {1}}), subevent({.words = some})}));
    HldFile file(temporary.path());
    ASSERT_EQ(file.next(), HldFile::Item::event);
    EXPECT_EQ(words_of(file.event().subevents.at(1)), some);
  }
}

TEST(HldFile, TheSizeOfAnEventMayLackTheLastPadding) {
  auto bytes = event({.number = 1}, {subevent({.words = {1, 2}}), subevent({.words = {1}})});
  overwrite(bytes, 0, static_cast<std::uint32_t>(bytes.size() - 4));
  append(bytes, plain_event(2));
  EXPECT_EQ(items_of(bytes), (Items{"1", "2"}));
  auto last = event({.number = 1}, {subevent({.words = {1}})});
  overwrite(last, 0, static_cast<std::uint32_t>(last.size() - 4));
  last.erase(last.end() - 4, last.end());
  EXPECT_EQ(items_of(last), (Items{"1"}));
}

TEST(HldFile, EventsOfRunsAreReported) {
  Bytes bytes = begin_run();
  append(bytes, plain_event(1));
  append(bytes, end_run());
  const TemporaryFile temporary(bytes);
  HldFile file(temporary.path());
  ASSERT_EQ(file.next(), HldFile::Item::event);
  EXPECT_TRUE(file.event().begins_run());
  ASSERT_EQ(file.next(), HldFile::Item::event);
  EXPECT_FALSE(file.event().begins_run() || file.event().ends_run());
  ASSERT_EQ(file.next(), HldFile::Item::event);
  EXPECT_TRUE(file.event().ends_run());
}

TEST(HldFile, DamageInsideCostsTheEvent) {
  for (const std::uint32_t size : {0U, 1U, 15U, 25U, 1000U, 0x7fffffffU, 0xffffffffU}) {
    auto bytes = plain_events({1, 2, 3});
    overwrite(bytes, kPlainBytes + 32, size, true);
    EXPECT_EQ(items_of(bytes), (Items{"1", "event@56", "3"})) << size;
  }
}

TEST(HldFile, DecodingsThatCannotBeCostTheEvent) {
  for (const std::uint32_t decoding : {0x11000011U, 0x00040011U, 0x00ff0011U, 0x00030001U}) {
    auto bytes = plain_events({1, 2, 3});
    overwrite(bytes, kPlainBytes + 36, decoding, true);
    EXPECT_EQ(items_of(bytes), (Items{"1", "event@56", "3"})) << decoding;
  }
}

TEST(HldFile, BytesThatAreNoSubeventCostTheEvent) {
  Bytes bytes = plain_event(1);
  put(bytes, 0);
  put(bytes, 0);
  overwrite(bytes, 0, static_cast<std::uint32_t>(bytes.size()));
  append(bytes, plain_event(2));
  EXPECT_EQ(items_of(bytes), (Items{"event@0", "2"}));
}

TEST(HldFile, SizesThatCannotBeLeadToTheNextEvent) {
  for (const std::uint32_t size : {0U, 8U, 31U, 257U << 20, 0x7fffffffU, 0xfffffff8U, 0xffffffffU}) {
    auto bytes = plain_events({1, 2, 3, 4});
    overwrite(bytes, kPlainBytes, size);
    EXPECT_EQ(items_of(bytes), (Items{"1", "stretch@56", "3", "4"})) << size;
  }
}

TEST(HldFile, ASizeThatIsWrongYetPossibleCostsWhatItCovers) {
  auto bytes = plain_events({1, 2, 3, 4});
  overwrite(bytes, kPlainBytes, 2 * kPlainBytes);  // swallows event 3 whole
  EXPECT_EQ(items_of(bytes), (Items{"1", "event@56", "4"}));
  overwrite(bytes, kPlainBytes, kPlainBytes + 8);
  EXPECT_EQ(items_of(bytes), (Items{"1", "stretch@56", "3", "4"}));
  overwrite(bytes, kPlainBytes, kPlainBytes - 16);
  EXPECT_EQ(items_of(bytes), (Items{"1", "stretch@56", "3", "4"}));
}

TEST(HldFile, FindsEventsInStepsOfFourToo) {
  auto bytes = plain_events({1, 2});
  overwrite(bytes, kPlainBytes, 0);
  put(bytes, 0xdeadbeef);
  append(bytes, plain_events({3, 4}));
  EXPECT_EQ(items_of(bytes), (Items{"1", "stretch@56", "3", "4"}));
}

TEST(HldFile, LooksAheadForOneMebibyte) {
  for (const std::size_t gap : {(std::size_t{1} << 20) - 1000, (std::size_t{1} << 20) + 8}) {
    auto bytes = plain_event(1);
    bytes.resize(bytes.size() + gap);
    append(bytes, plain_events({2, 3}));
    const bool reached = gap < std::size_t{1} << 20;
    EXPECT_EQ(items_of(bytes), reached ? (Items{"1", "stretch@56", "2", "3"}) : (Items{"1", "rest@56"}));
  }
}

TEST(HldFile, WhatLooksLikeAnEventAndLeadsNowhereIsNone) {
  auto bytes = plain_event(1);
  Bytes junk = event({.number = 66});
  overwrite(junk, 0, 40);
  append(bytes, Bytes(8));
  append(bytes, junk);
  append(bytes, Bytes(24));
  append(bytes, plain_events({2, 3}));
  EXPECT_EQ(items_of(bytes), (Items{"1", "stretch@56", "2", "3"}));
}

TEST(HldFile, AFileCutInAnEventBreaksOff) {
  const auto whole = plain_events({1, 2, 3});
  for (std::size_t size = 32; size <= whole.size(); ++size) {
    Items expected;
    for (std::size_t i = 0; i < size / kPlainBytes; ++i) expected.push_back(std::to_string(i + 1));
    if (size % kPlainBytes != 0) expected.push_back("rest@" + std::to_string(size / kPlainBytes * kPlainBytes));
    EXPECT_EQ(items_of(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))), expected) << size;
  }
}

TEST(HldFile, UnusualDecodingOfAnEventIsRemarked) {
  auto bytes = plain_events({1, 2});
  overwrite(bytes, kPlainBytes + 4, 0x00030101);
  const TemporaryFile temporary(bytes);
  HldFile file(temporary.path());
  EXPECT_EQ(file.next(), HldFile::Item::event);
  EXPECT_EQ(file.next(), HldFile::Item::event);
  EXPECT_EQ(file.event().number, 2U);
  EXPECT_EQ(file.next(), HldFile::Item::end);
  EXPECT_EQ(file.anomalies(), 1U);
}

TEST(HldFile, AFileThatGrowsIsReadAsItWasAndRemarked) {
  const TemporaryFile temporary(plain_event(1));
  HldFile file(temporary.path());
  const auto more = plain_event(2);
  std::ofstream(temporary.path(), std::ios::app | std::ios::binary)
      .write(reinterpret_cast<const char*>(more.data()), static_cast<std::streamsize>(more.size()));
  EXPECT_EQ(file.next(), HldFile::Item::event);
  EXPECT_EQ(file.next(), HldFile::Item::end);
  EXPECT_EQ(file.next(), HldFile::Item::end);
  EXPECT_EQ(file.anomalies(), 1U);
}

TEST(HldFile, AFileThatIsCutWhileItIsReadBreaksOff) {
  std::vector<std::uint32_t> numbers(20000);
  for (std::uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  for (const std::size_t events_left : {15000, 15001}) {
    const TemporaryFile temporary(plain_events(numbers));
    HldFile file(temporary.path());
    ASSERT_EQ(file.next(), HldFile::Item::event);
    std::filesystem::resize_file(temporary.path(), events_left * kPlainBytes);
    std::size_t events = 1;
    auto item = file.next();
    for (; item == HldFile::Item::event; item = file.next()) ++events;
    EXPECT_EQ(events, events_left);
    ASSERT_EQ(item, HldFile::Item::damage);
    EXPECT_EQ(file.damage().extent, HldDamage::Extent::rest);
    EXPECT_EQ(file.next(), HldFile::Item::end);
  }
}

TEST(HldFile, RefusesWhatIsNoHldFile) {
  for (const auto& bytes : {Bytes{}, Bytes(31), Bytes(1000), Bytes(1000, 'x')}) {
    const TemporaryFile temporary(bytes);
    EXPECT_THROW(HldFile{temporary.path()}, UserError) << bytes.size();
  }
  EXPECT_THROW(HldFile{"/nonexistent.hld"}, UserError);
}

TEST(HldFile, DamageAtTheStartIsNoReasonToRefuse) {
  auto bytes = plain_events({1, 2, 3});
  overwrite(bytes, 4, 0xffffffff);
  EXPECT_EQ(items_of(bytes), (Items{"stretch@0", "2", "3"}));
}

TEST(HldFile, NoStretchIsSearchedTwice) {
  // Each second event is followed by 4 bytes that shift the rest, so that every search in steps of 8 bytes goes far.
  Bytes bytes = plain_event(0);
  for (std::uint32_t i = 1; i < 20000; ++i) {
    append(bytes, plain_event(i));
    if (i % 2 == 0) put(bytes, 0);
  }
  const auto items = items_of(bytes);
  EXPECT_GT(items.size(), 15000U);
  EXPECT_EQ(items.back(), "19999");
}

}  // namespace
}  // namespace eventloom
