#include "io/lmd/lmd_file.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "lmd_maker.hpp"

namespace eventloom {
namespace {

using namespace test;

/// The contents of a file.
struct Found {
  std::vector<std::uint32_t> numbers;
  std::vector<std::uint64_t> offsets;
  std::vector<Words> data;  ///< of all subevents
  std::vector<LmdProblem> problems;
  Counters counters;
  std::uint64_t event_bytes = 0;
  LmdIndexState index = LmdIndexState::none;
  LmdFileHeader header;
};

Found found_in(const std::string& path) {
  LmdFile file(path);
  Found found;
  LmdEvent event;
  const auto take = [&] {
    found.problems.insert(found.problems.end(), file.problems().begin(), file.problems().end());
  };
  while (file.next(event)) {
    take();
    found.numbers.push_back(event.number);
    found.offsets.push_back(event.offset);
    found.event_bytes += 8 + 2 * std::uint64_t{event.dlen};
    for (const auto& sub : event.subevents) {
      found.data.emplace_back();
      for (std::size_t i = 0; i < sub.words(); ++i) found.data.back().push_back(sub.word(i));
    }
  }
  take();
  EXPECT_FALSE(file.next(event));
  EXPECT_TRUE(file.problems().empty());
  found.counters = file.counters();
  found.index = file.index();
  found.header = file.header();
  return found;
}

using Numbers = std::vector<std::uint32_t>;

class LmdFlat : public LmdTest {};
class LmdClassic : public LmdTest {};

std::string three_events() { return plain_event(1, 14) + plain_event(2) + plain_event(3); }

TEST_F(LmdFlat, EventFieldsAndSubevents) {
  const auto subs = subevent(0x3f017fff, {0x11223344, 0xffffffff}, 77, 0xfffe) + subevent(0x80, {});
  LmdFile file(write(flat_header() + event(0xfffffff0, subs, 12, 0xabcd)));
  LmdEvent event;
  ASSERT_TRUE(file.next(event));
  EXPECT_EQ(event.offset, 48U);
  EXPECT_EQ(event.number, 0xfffffff0);
  EXPECT_EQ(event.trigger, 12);
  EXPECT_EQ(event.dummy, 0xabcd);
  EXPECT_EQ(event.dlen, 4U + 10 + 6);
  ASSERT_EQ(event.subevents.size(), 2U);
  const auto& first = event.subevents[0];
  EXPECT_EQ(first.control, 0x3f);
  EXPECT_EQ(first.crate, 1);
  EXPECT_EQ(first.procid, 0x7fff);
  EXPECT_EQ(first.type, 77);
  EXPECT_EQ(first.subtype, 0xfffe);
  EXPECT_EQ(first.dlen, 6U);
  EXPECT_EQ(first.word(1), 0xffffffffU);
  EXPECT_EQ(event.subevents[1].words(), 0U);
  EXPECT_FALSE(file.next(event));
}

TEST_F(LmdFlat, BothByteOrders) {
  const auto bytes = flat_header() + three_events();
  const auto little = found_in(write(bytes, "little.lmd"));
  const auto big = found_in(write(swapped(bytes), "big.lmd"));
  EXPECT_EQ(little.numbers, (Numbers{1, 2, 3}));
  EXPECT_EQ(big.numbers, little.numbers);
  EXPECT_EQ(big.offsets, little.offsets);
  EXPECT_EQ(big.data, little.data);
  EXPECT_FALSE(little.header.swapped);
  EXPECT_TRUE(big.header.swapped);
  EXPECT_TRUE(little.problems.empty() && big.problems.empty());
}

TEST_F(LmdFlat, OddWordCounts) {
  // dlen 3: one 16-bit word of data; the following elements are not aligned to 32 bits.
  const auto odd = Bytes().u32(3).u16(10).u16(1).u16(9).u8(0).u8(0).u16(0xbeef).text();
  const auto bytes = flat_header() + event(1, odd + subevent(4, {0x01020304})) + event(2, odd) + plain_event(3);
  for (const auto& made : {bytes, swapped(bytes)}) {
    const auto found = found_in(write(made));
    EXPECT_EQ(found.numbers, (Numbers{1, 2, 3}));
    EXPECT_EQ(found.data, (std::vector<Words>{{0xbeef}, {0x01020304}, {0xbeef}, {3, 5}, {3}}));
  }
}

TEST_F(LmdFlat, LongHeaderIsSkippedUnswapped) {
  const std::string more = "abcdef";
  const auto body = three_events();
  EXPECT_EQ(found_in(write(flat_header(0, 8, 3) + more + body)).numbers, (Numbers{1, 2, 3}));
  EXPECT_EQ(found_in(write(swapped(flat_header(0, 8, 3)) + more + swapped(body))).numbers, (Numbers{1, 2, 3}));
}

TEST_F(LmdFlat, OtherElementsAreSkippedAndCounted) {
  const auto bytes = flat_header() + element(11, 1, "12345678") + plain_event(1) + element(4, 1, "") +
                     element(6, 2, "ab") + element(123, 4, "ab") + element(321, 4, "abcd") + plain_event(2) +
                     element(99, 9, "x.");
  const auto found = found_in(write(bytes));
  EXPECT_EQ(found.numbers, (Numbers{1, 2}));
  EXPECT_EQ(found.counters[Metric::skipped_elements], 6U);
  EXPECT_TRUE(found.problems.empty());
}

TEST_F(LmdFlat, BuffersOfDabcInside) {
  const auto events = three_events();
  const auto head = buffer_header({.size = 48 + events.size(), .used = events.size(), .type = 100});
  const auto found = found_in(write(flat_header() + head + events + head + events));
  EXPECT_EQ(found.numbers, (Numbers{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(found.counters[Metric::buffers], 2U);
  EXPECT_EQ(found.counters[Metric::skipped_elements], 0U);
}

TEST_F(LmdFlat, DataThatLookLikeEvents) {
  Words inner{8, 0x0001000a, 0x00010000, 2, 0, 0};
  const auto found = found_in(write(flat_header() + event(1, subevent(3, inner)) + plain_event(2)));
  EXPECT_EQ(found.numbers, (Numbers{1, 2}));
}

/// 101/2: its header, followed by offsets of `size` bytes in units of 4.
std::string index_of(const std::vector<std::uint64_t>& offsets, unsigned size) {
  Bytes bytes;
  bytes.u32(4 + offsets.size() * size / 2).u16(101).u16(2).u32(0).u32(0);
  for (const auto offset : offsets) {
    bytes.u32(offset / 4);
    if (size == 8) bytes.u32(0);
  }
  return bytes.text();
}

/// In the other byte order, numbers of 64 bits are swapped as a whole.
std::string swap_halves(std::string bytes, std::size_t at, std::size_t n) {
  for (; n > 0; --n, at += 8)
    std::swap_ranges(bytes.begin() + static_cast<long>(at), bytes.begin() + static_cast<long>(at) + 4,
                     bytes.begin() + static_cast<long>(at) + 4);
  return bytes;
}

TEST_F(LmdFlat, Index) {
  const auto size = plain_event(1).size();
  const std::vector<std::uint64_t> offsets{48, 48 + size, 48 + 2 * size, 48 + 3 * size};
  for (const unsigned width : {4U, 8U}) {
    const auto whole = flat_header(offsets.back() / 4, width) + three_events() + index_of(offsets, width);
    EXPECT_EQ(found_in(write(whole)).index, LmdIndexState::whole);
    EXPECT_EQ(found_in(write(whole)).counters[Metric::skipped_elements], 0U);
    auto damaged = whole;
    damaged[damaged.size() - std::size_t{2} * width] ^= 1;
    const auto found = found_in(write(damaged));
    EXPECT_EQ(found.index, LmdIndexState::damaged);
    EXPECT_EQ(found.numbers.size(), 3U);
    ASSERT_EQ(found.problems.size(), 1U);
    EXPECT_EQ(found.problems[0].effect, LmdEffect::none);
    EXPECT_EQ(found.problems[0].offset, offsets.back());
    EXPECT_EQ(found_in(write(whole.substr(0, whole.size() - 3))).index, LmdIndexState::damaged);
    EXPECT_EQ(found_in(write(whole.substr(0, offsets.back()))).index, LmdIndexState::damaged) << "it is missing";
  }
}

TEST_F(LmdFlat, IndexOfTheOtherByteOrder) {
  const auto size = plain_event(1).size();
  const std::vector<std::uint64_t> offsets{48, 48 + size};
  auto bytes = swapped(flat_header(offsets.back() / 4) + plain_event(1) + index_of(offsets, 8));
  bytes = swap_halves(swap_halves(bytes, 8, 1), offsets.back() + 16, 2);
  const auto found = found_in(write(bytes));
  EXPECT_EQ(found.index, LmdIndexState::whole);
  EXPECT_EQ(found.header.flat.table, offsets.back() / 4);
}

TEST_F(LmdFlat, IndexAtAnotherPlaceThanTheHeaderSays) {
  const auto size = plain_event(1).size();
  const auto bytes = flat_header(99) + plain_event(1) + index_of({48, 48 + size}, 8);
  EXPECT_EQ(found_in(write(bytes)).index, LmdIndexState::damaged);
}

TEST_F(LmdFlat, LengthsThatOverflow) {
  for (const std::int64_t dlen : {0x7ffffffaLL, 0x7ffffffcLL, 0x7fffffffLL, 0xfffffffcLL, 0xffffffffLL, 0LL, 3LL}) {
    const auto bad = event(2, subevent(1, {2, 7}), 1, 0, dlen);
    const auto found = found_in(write(flat_header() + plain_event(1) + bad + plain_event(3) + plain_event(4)));
    EXPECT_EQ(found.numbers, (Numbers{1, 3, 4})) << dlen;
    ASSERT_EQ(found.problems.size(), 1U);
    EXPECT_EQ(found.problems[0].offset, 48 + plain_event(1).size());
    EXPECT_EQ(found.problems[0].effect, LmdEffect::hole);
  }
}

TEST_F(LmdFlat, SubeventsAreNotTakenForEvents) {
  // After the damage come subevent headers that could be events with numbers like their neighbours', except for what
  // follows them.
  const auto decoy = subevent(0x00010000, {3, 0, 0, 0, 0});
  const auto bad = event(2, decoy + decoy, 1, 0, 0x100000);
  const auto found = found_in(write(flat_header() + plain_event(1) + bad + plain_event(3)));
  EXPECT_EQ(found.numbers, (Numbers{1, 3}));
}

TEST_F(LmdFlat, SubeventsThatDoNotFillTheirEvent) {
  auto bad = plain_event(2);
  bad[16] = 9;  // the first subevent's length
  const auto found = found_in(write(flat_header() + plain_event(1) + bad + plain_event(3)));
  EXPECT_EQ(found.numbers, (Numbers{1, 3}));
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_EQ(found.problems[0].effect, LmdEffect::loss);
  EXPECT_GE(found.problems[0].hits, 1U);
}

TEST_F(LmdFlat, CutAnywhere) {
  const auto bytes = flat_header() + three_events();
  const auto size = plain_event(1).size();
  for (std::size_t end = 48; end < bytes.size(); ++end) {
    for (const bool swap : {false, true}) {
      const auto found = found_in(write(swap ? swapped(bytes).substr(0, end) : bytes.substr(0, end)));
      EXPECT_EQ(found.numbers.size(), (end - 48) / size) << end;
      EXPECT_EQ(found.problems.empty(), (end - 48) % size == 0) << end;
      if (found.problems.empty()) continue;
      EXPECT_EQ(found.problems[0].offset, 48 + (end - 48) / size * size);
      EXPECT_EQ(found.problems[0].effect, LmdEffect::breaks_off);
    }
  }
}

TEST_F(LmdFlat, CutEventStatesItsSubevents) {
  const auto found = found_in(write(flat_header() + plain_event(1) + plain_event(2).substr(0, 40)));
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_EQ(found.problems[0].hits, 2U);
}

TEST_F(LmdFlat, HeaderLongerThanTheFile) {
  const auto found = found_in(write(flat_header(0, 8, 1000) + three_events()));
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_EQ(found.problems[0].effect, LmdEffect::breaks_off);
}

TEST_F(LmdFlat, GarbageIsNotSearchedForever) {
  std::string garbage;
  for (int i = 0; i < 100000; ++i) garbage += element(10, 1, "\x07\x07");  // events that are too short
  const auto found = found_in(write(flat_header() + garbage));
  EXPECT_TRUE(found.numbers.empty());
  EXPECT_EQ(found.problems.size(), 1U);
}

TEST_F(LmdFlat, GrowingFileIsReadAsItWasWhenOpened) {
  const auto name = write(flat_header() + three_events());
  LmdFile file(name);
  std::ofstream(name, std::ios::binary | std::ios::app) << plain_event(4);
  LmdEvent event;
  std::size_t events = 0;
  while (file.next(event)) ++events;
  EXPECT_EQ(events, 3U);
  ASSERT_EQ(file.problems().size(), 1U);
  EXPECT_EQ(file.problems()[0].effect, LmdEffect::none);
}

TEST_F(LmdFlat, FileThatShrinksWhileItIsRead) {
  std::string large = flat_header();
  for (std::uint32_t i = 1; i <= 20000; ++i) large += plain_event(i);
  const auto name = write(large);
  LmdFile file(name);
  std::filesystem::resize_file(name, 60);
  LmdEvent event;
  std::size_t events = 0;
  while (file.next(event)) ++events;
  EXPECT_LT(events, 20000U);
  ASSERT_FALSE(file.problems().empty());
  EXPECT_EQ(file.problems().back().effect, LmdEffect::breaks_off);
  EXPECT_NE(file.problems().back().text.find("shorter"), std::string::npos);
}

TEST_F(LmdFlat, NoLmdFile) {
  for (const auto& bytes : {std::string(), std::string("short"), std::string(500, 'x')}) {
    EXPECT_THROW((void)found_in(write(bytes)), UserError);
  }
  EXPECT_THROW((void)found_in(path("none.lmd")), UserError);
}

// ---------------------------------------------------------------- 2000/1

TEST_F(LmdClassic, HeaderTexts) {
  const auto found = found_in(write(classic_header(1024) + buffer({.size = 1024}, three_events())));
  EXPECT_TRUE(found.header.classic);
  EXPECT_EQ(found.header.buffer_bytes, 1024U);
  EXPECT_EQ(found.header.label, "tape");
  EXPECT_EQ(found.header.file, "run.lmd");
  EXPECT_EQ(found.header.user, "mbs.");
  EXPECT_EQ(found.header.time, "Jan  1 2026");
  EXPECT_EQ(found.header.run, "r17");
  EXPECT_EQ(found.header.experiment, "e");
  EXPECT_EQ(found.header.lines, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(found.numbers, (Numbers{1, 2, 3}));
  EXPECT_EQ(found.counters[Metric::buffers], 1U);
}

/// Fragments of `event` of the given sizes, the first with its header.
std::vector<std::string> fragments(const std::string& event, const std::vector<std::size_t>& sizes) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  for (const auto size : sizes) {
    Bytes bytes;
    if (at == 0) bytes.u32((size - 8) / 2).add(event.substr(4, size - 4));
    if (at != 0) bytes.add(element(10, 1, event.substr(at, size)));
    parts.push_back(bytes.text());
    at += size;
  }
  if (at < event.size()) parts.push_back(element(10, 1, event.substr(at)));
  return parts;
}

TEST_F(LmdClassic, EventsSpanBuffers) {
  const auto parts = fragments(plain_event(2), {20, 4, 16});
  ASSERT_EQ(parts.size(), 4U);
  const auto bytes = classic_header() + buffer({.number = 1, .has_more = true}, plain_event(1) + parts[0]) +
                     buffer({.number = 2, .continues = true, .has_more = true}, parts[1]) +
                     buffer({.number = 3, .continues = true, .has_more = true}, parts[2]) +
                     buffer({.number = 4, .continues = true}, parts[3] + plain_event(3));
  auto big = swapped(bytes.substr(0, 48)) + bytes.substr(48, 464) + swapped(bytes.substr(512));
  for (const auto& made : {bytes, big}) {
    const auto found = found_in(write(made));
    EXPECT_EQ(found.numbers, (Numbers{1, 2, 3}));
    EXPECT_EQ(found.data, (std::vector<Words>{{1, 5}, {1}, {2, 5}, {2}, {3, 5}, {3}}));
    EXPECT_EQ(found.counters[Metric::buffers], 4U);
    EXPECT_EQ(found.counters[Metric::buffers_continued], 3U);
    EXPECT_EQ(found.event_bytes, 3 * plain_event(1).size());
    EXPECT_EQ(found.offsets[1], 512 + 48 + plain_event(1).size());
    EXPECT_TRUE(found.problems.empty());
  }
}

TEST_F(LmdClassic, BufferSizes) {
  // dlen of the file header: half of a buffer, or of a buffer without its header if its size is not a multiple of 512.
  for (const std::size_t size : {512UL, 560UL, 4096UL, 32768UL}) {
    auto head = classic_header(size);
    if (size >= 32768) head = head.substr(0, 48 + 100);
    if (size >= 32768) head.replace(40, 4, Bytes().u32(50).text());
    if (size % 512 != 0) head.replace(0, 4, Bytes().u32((size - 48) / 2).text());
    const auto found = found_in(write(head + buffer({.size = size}, three_events())));
    EXPECT_EQ(found.numbers, (Numbers{1, 2, 3})) << size;
    EXPECT_EQ(found.header.buffer_bytes, size);
    EXPECT_TRUE(found.problems.empty());
  }
}

TEST_F(LmdClassic, LongBuffersHaveTheirUsedWordsElsewhere) {
  const auto head = classic_header(65536).substr(0, 48);
  const auto found = found_in(write(head + buffer({.size = 65536}, three_events())));
  EXPECT_EQ(found.numbers, (Numbers{1, 2, 3}));
  const auto dabc = found_in(write(classic_header() + buffer({.type = 100}, three_events())));
  EXPECT_EQ(dabc.numbers, (Numbers{1, 2, 3}));
}

TEST_F(LmdClassic, BuffersOfDabcAreAsLongAsTheirContents) {
  const auto one = three_events();
  const auto head = buffer_header({.size = 48 + one.size(), .used = one.size(), .type = 100});
  const auto found = found_in(write(classic_header() + head + one + head + one));
  EXPECT_EQ(found.numbers, (Numbers{1, 2, 3, 1, 2, 3}));
}

TEST_F(LmdClassic, EmptyBuffersAndOtherElements) {
  const auto bytes = classic_header() + buffer({.number = 1}, "") +
                     buffer({.number = 2}, element(11, 1, "1234") + plain_event(1) + element(6, 1, "")) +
                     buffer({.number = 3, .type = 11}, "") + buffer({.number = 4}, plain_event(2));
  const auto found = found_in(write(bytes));
  EXPECT_EQ(found.numbers, (Numbers{1, 2}));
  EXPECT_EQ(found.counters[Metric::skipped_elements], 3U);
}

TEST_F(LmdClassic, ByteOrderOfEachBuffer) {
  const auto bytes = classic_header() + buffer({.number = 1}, plain_event(1)) +
                     swapped(buffer({.number = 2, .mark = 0}, plain_event(2))) + buffer({.number = 3}, plain_event(3));
  EXPECT_EQ(found_in(write(bytes)).numbers, (Numbers{1, 2, 3}));
}

TEST_F(LmdClassic, FragmentAtTheStart) {
  const auto parts = fragments(plain_event(1), {20});
  const auto bytes = classic_header() + buffer({.number = 7, .continues = true}, parts[1] + plain_event(2));
  const auto found = found_in(write(bytes));
  EXPECT_EQ(found.numbers, (Numbers{2}));
  EXPECT_EQ(found.counters[Metric::skipped_fragments], 1U);
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_EQ(found.problems[0].effect, LmdEffect::loss);
}

TEST_F(LmdClassic, FragmentAtTheEnd) {
  const auto parts = fragments(plain_event(2), {32});
  const auto bytes = classic_header() + buffer({.has_more = true}, plain_event(1) + parts[0]);
  const auto found = found_in(write(bytes));
  EXPECT_EQ(found.numbers, (Numbers{1}));
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_EQ(found.problems[0].effect, LmdEffect::breaks_off);
  EXPECT_EQ(found.problems[0].offset, 512 + 48 + plain_event(1).size());
  EXPECT_EQ(found.problems[0].hits, 1U) << "one of the subevents has begun";
}

TEST_F(LmdClassic, MissingBuffers) {
  const auto two = fragments(plain_event(2), {20});
  const auto four = fragments(plain_event(4), {20});
  const auto bytes = classic_header() + buffer({.number = 1, .has_more = true}, plain_event(1) + two[0]) +
                     buffer({.number = 5, .continues = true}, four[1] + plain_event(5));
  const auto found = found_in(write(bytes));
  EXPECT_EQ(found.numbers, (Numbers{1, 5}));
  EXPECT_EQ(found.counters[Metric::missing_buffers], 3U);
  EXPECT_EQ(found.counters[Metric::skipped_fragments], 1U);
  ASSERT_EQ(found.problems.size(), 2U) << "the event that lacks its rest, and the hole";
  EXPECT_EQ(found.problems[0].effect, LmdEffect::loss);
  EXPECT_EQ(found.problems[1].effect, LmdEffect::hole);
}

TEST_F(LmdClassic, BuffersWithoutNumbers) {
  const auto parts = fragments(plain_event(2), {20});
  const auto bytes = classic_header() + buffer({.number = 0, .has_more = true}, plain_event(1) + parts[0]) +
                     buffer({.number = 0, .continues = true}, parts[1]);
  const auto found = found_in(write(bytes));
  EXPECT_EQ(found.numbers, (Numbers{1, 2}));
  EXPECT_TRUE(found.problems.empty());
}

TEST_F(LmdClassic, FlagsThatDisagree) {
  const auto parts = fragments(plain_event(2), {20});
  const auto bytes = classic_header() + buffer({.number = 1, .has_more = true}, plain_event(1) + parts[0]) +
                     buffer({.number = 2}, plain_event(3)) + buffer({.number = 3, .continues = true}, parts[1]);
  const auto found = found_in(write(bytes));
  EXPECT_EQ(found.numbers, (Numbers{1, 3}));
  EXPECT_EQ(found.problems.size(), 2U);
}

TEST_F(LmdClassic, DamageIsLeftWithItsBuffer) {
  auto bad = plain_event(2);
  bad[1] = '\x7f';
  const auto bytes = classic_header() + buffer({.number = 1}, plain_event(1) + bad + plain_event(3)) +
                     buffer({.number = 2}, plain_event(4));
  const auto found = found_in(write(bytes));
  EXPECT_EQ(found.numbers, (Numbers{1, 4}));
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_EQ(found.problems[0].effect, LmdEffect::hole);
}

TEST_F(LmdClassic, DamagedBufferHeader) {
  for (const std::size_t at : {0UL, 4UL, 9UL}) {  // dlen, type, used words
    auto bad = buffer({.number = 2}, plain_event(2));
    bad[at] = '\x7f';
    const auto bytes =
        classic_header() + buffer({.number = 1}, plain_event(1)) + bad + buffer({.number = 3}, plain_event(3));
    const auto found = found_in(write(bytes));
    EXPECT_EQ(found.numbers, (Numbers{1, 3}));
    ASSERT_EQ(found.problems.size(), 1U) << "the hole is reported once";
    EXPECT_EQ(found.problems[0].offset, 1024U);
  }
}

TEST_F(LmdClassic, CutAnywhere) {
  const auto parts = fragments(plain_event(2), {20});
  const auto bytes = classic_header() + buffer({.number = 1, .has_more = true}, plain_event(1) + parts[0]) +
                     buffer({.number = 2, .continues = true}, parts[1] + plain_event(3));
  const auto one = 512 + 48 + plain_event(1).size();
  const auto two = 1024 + 48 + parts[1].size();
  for (std::size_t end = 512; end < bytes.size(); ++end) {
    const auto found = found_in(write(bytes.substr(0, end)));
    const auto three = two + plain_event(3).size();
    const auto expected = (end >= one ? 1U : 0U) + (end >= two ? 1U : 0U) + (end >= three ? 1U : 0U);
    EXPECT_EQ(found.numbers.size(), expected) << end;
    EXPECT_EQ(found.problems.empty(), end == 512) << end;
    if (end > 512) {
      EXPECT_EQ(found.problems.back().effect, LmdEffect::breaks_off) << end;
    }
  }
}

TEST_F(LmdClassic, SizesThatMakeNoSense) {
  for (const std::uint32_t dlen : {0U, 3U, 0x08000100U, 0x7fffffe8U, 0xffffffffU}) {
    auto bytes = classic_header() + std::string(512, '\0');
    bytes.replace(0, 4, Bytes().u32(dlen).text());
    EXPECT_THROW((void)found_in(write(bytes)), UserError) << dlen;
  }
}

}  // namespace
}  // namespace eventloom
