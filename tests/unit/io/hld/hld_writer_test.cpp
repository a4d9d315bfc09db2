#include "io/hld/hld_writer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "hld_maker.hpp"
#include "io/hld/hld_hits.hpp"
#include "io/hld/hld_origin.hpp"

namespace eventloom {
namespace {

using namespace test;
using Words = std::vector<std::uint32_t>;
using std::chrono::seconds;
using std::chrono::sys_seconds;

Bytes to_bytes(const std::vector<std::byte>& bytes) {
  Bytes result;
  for (const auto byte : bytes) result.push_back(static_cast<unsigned char>(byte));
  return result;
}

HldEventHeader header(std::uint32_t id, std::uint32_t number) {
  HldEventHeader event{.id = id, .number = number, .run = 7};
  set_hld_time(event, sys_seconds(seconds(1'795'228'551)));  // 2026-11-21T02:35:51Z, as in hld_maker.hpp
  return event;
}

/// The events of a file, converted to hits and back, in the file's own byte orders.
Bytes rewritten(const Bytes& file) {
  const TemporaryFile given(file);
  HldFile reader(given.path());
  const auto maker = make_subevent_hits();
  std::vector<std::byte> out;
  while (reader.next() == HldFile::Item::event) {
    HitBlock block;
    maker->append(reader.event(), 1, block, reader.defect_log());
    const auto begin = begin_hld_event(header(reader.event().id, reader.event().number), out);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const auto hit = read_hld_hit(block.payload_of(i), {});
      EXPECT_TRUE(hit.has_value());
      EXPECT_EQ(hit->event_id, reader.event().id);
      EXPECT_EQ(hit->event_number, reader.event().number);
      if (!hit->subevent) continue;
      append_hld_subevent(*hit->subevent, hit->data, out);
    }
    end_hld_event(begin, out);
  }
  return to_bytes(out);
}

TEST(HldWriter, HitsGiveTheEventsBack) {
  const auto big = subevent({.id = 0x8000, .words = {1, 2, 3}, .trigger_number = 0x1234});
  const auto little = subevent({.id = 0x8020, .words = {0x01020304}, .big_endian = false});
  const auto shorts = subevent({.id = 0x8021, .words = {0x01020304}, .big_endian = false, .decoding = 0x00010011});
  const auto wrong = subevent({.id = 0x80008030, .words = {}});
  Bytes file;
  const auto other_order = subevent({.id = 0x8000, .words = {4}, .big_endian = false});
  append(file, event({.number = 1}, {big, little, shorts, big, other_order}));
  append(file, event({.number = 2, .id = 0x8000200d}, {wrong}));
  append(file, event({.number = 3}));
  EXPECT_EQ(rewritten(file), file);
}

TEST(HldWriter, IncompleteWordsAndPadding) {
  for (const bool big_endian : {true, false}) {
    auto odd = subevent({.words = {0x01020304, 0x05060000}, .big_endian = big_endian});
    overwrite(odd, 0, 16 + 6, big_endian);
    odd[22] = odd[23] = 0;
    const auto file = event({.number = 1}, {odd, subevent({.words = {9}, .big_endian = big_endian})});
    EXPECT_EQ(rewritten(file), file);
  }
}

TEST(HldWriter, BeginAndEndOfARun) {
  std::vector<std::byte> bytes;
  append_hld_begin(header(0, 0), bytes);
  append_hld_end(header(0, 0), bytes);
  Bytes expected;
  append(expected, begin_run());
  overwrite(expected, 28, 0x4c545645);
  append(expected, end_run());
  EXPECT_EQ(to_bytes(bytes), expected);
}

TEST(HldWriter, OnlyOwnFilesAreRecognised) {
  std::vector<std::byte> bytes;
  append_hld_begin(header(0, 0), bytes);
  auto own = to_bytes(bytes);
  EXPECT_TRUE(is_written_hld(TemporaryFile(own).path()));
  own.pop_back();
  EXPECT_FALSE(is_written_hld(TemporaryFile(own).path()));
  EXPECT_FALSE(is_written_hld(TemporaryFile(begin_run()).path()));
  EXPECT_FALSE(is_written_hld(TemporaryFile({}).path()));
}

TEST(HldWriter, DatesCountMonthsFromZeroAndYearsFrom1900) {
  HldEventHeader event;
  set_hld_time(event, sys_seconds(seconds(1'709'251'199)));  // 2024-02-29T23:59:59Z
  EXPECT_EQ(event.date, 0x007c011dU);
  EXPECT_EQ(event.time, 0x00173b3bU);
}

/// A payload that violates the rule in any of its fields.
TEST(HldWriter, OtherPayloadStandsForNothing) {
  const Words subevent = {8, 1 << 16, 0x2001, 5, 20, 0x00020011, 0x8000, 1, 11};
  EXPECT_TRUE(read_hld_hit(subevent, {}).has_value());
  EXPECT_TRUE(read_hld_hit(Words{3, 1 << 16, 0x2001, 5}, {}).has_value());
  for (const std::uint32_t size : {0U, 15U, 16U, 21U, 0xffffffffU}) {
    auto other = subevent;
    other[4] = size;
    EXPECT_FALSE(read_hld_hit(other, {}).has_value()) << size;
  }
  auto other = subevent;
  other[5] = 0x00040011;
  EXPECT_FALSE(read_hld_hit(other, {}).has_value()) << "words of 16 bytes";
  other = subevent;
  other[1] |= 3;
  EXPECT_FALSE(read_hld_hit(other, {}).has_value()) << "no byte order";
  EXPECT_FALSE(read_hld_hit(Words{}, {}).has_value());
  EXPECT_FALSE(read_hld_hit(Words{2, 1, 5}, {}).has_value());
  EXPECT_FALSE(read_hld_hit(Words{4, 1 << 16, 0x2001, 5, 16}, {}).has_value());
}

/// The hits lack a byte order; the stream's header has one for each id.
TEST(HldOrigin, StreamsOfEarlierVersions) {
  const std::string text =
      "a first line\nNumber of the run: 4294967294\nByte order of the subevents in the file: little-endian, but not of "
      "the ids 0 8020 ffffffff\na last line\n";
  const auto origin = parse_hld_origin(text);
  ASSERT_TRUE(origin.has_value());
  EXPECT_EQ(origin->run, 0xfffffffeU);
  const auto order_of = [&](std::uint32_t id, std::uint32_t order) {
    return read_hld_hit(Words{8, 1 << 16 | order, 0x2001, 5, 20, 0x00020011, id, 1, 11}, *origin)->subevent->big_endian;
  };
  EXPECT_TRUE(order_of(0, 0));
  EXPECT_TRUE(order_of(0x8020, 0));
  EXPECT_TRUE(order_of(0xffffffff, 0));
  EXPECT_FALSE(order_of(0x8000, 0)) << "an id that is not named";
  EXPECT_FALSE(order_of(0x8020, 2)) << "the hit's own value counts";
  EXPECT_TRUE(order_of(0x8000, 1));
  const auto big = parse_hld_origin("Number of the run: 1\nByte order of the subevents in the file: big-endian\n");
  EXPECT_TRUE(big->big_endian && big->others.empty());
}

TEST(HldOrigin, RunsAreReadBack) {
  const auto found = parse_hld_origin("a first line\n" + hld_origin_text(0xfffffffe) + "a last line\n");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->run, 0xfffffffeU);
  EXPECT_FALSE(parse_hld_origin("").has_value());
  EXPECT_FALSE(parse_hld_origin("not at the start: " + hld_origin_text(1)).has_value());
  EXPECT_EQ(find_hld_run(TemporaryFile(event({.run = 99}, {})).path()), 99U);
  EXPECT_EQ(find_hld_run(TemporaryFile(Bytes{1, 2, 3}).path()), 0U);
}

/// The rule of this version, and that of the first.
TEST(HldOrigin, RulesAreRecognised) {
  EXPECT_TRUE(has_hld_subevents("hld:x\n" + std::string(hld_subevent_rule())));
  EXPECT_TRUE(has_hld_subevents(
      "hld:x\nHLD: each subevent is a hit, its channel the low 28 bits of its id.\n"
      "Payload: number of words that follow, trigger type << 16, event id, event number, subevent size in bytes,\n"));
  EXPECT_FALSE(has_hld_subevents("hld:x\nHLD of TRB3 boards: each time word of a TDC is a hit\n"));
}

}  // namespace
}  // namespace eventloom
