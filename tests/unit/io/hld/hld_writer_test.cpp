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

/// The events of a file, each by way of its hits, in the file's own byte orders.
Bytes rewritten(const Bytes& file) {
  const TemporaryFile given(file);
  const auto origin = find_hld_origin(given.path());
  HldFile reader(given.path());
  const auto maker = make_subevent_hits();
  std::vector<std::byte> out;
  while (reader.next() == HldFile::Item::event) {
    HitBlock block;
    maker->append(reader.event(), 1, block, reader.complaints());
    const auto begin = begin_hld_event(header(reader.event().id, reader.event().number), out);
    for (std::size_t i = 0; i < block.size(); ++i) {
      auto hit = read_hld_hit(block.payload_of(i));
      EXPECT_TRUE(hit.has_value());
      EXPECT_EQ(hit->event_id, reader.event().id);
      EXPECT_EQ(hit->event_number, reader.event().number);
      if (!hit->subevent) continue;
      hit->subevent->big_endian = origin.is_big_endian(hit->subevent->id);
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
  append(file, event({.number = 1}, {big, little, shorts, big}));
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

/// A payload that breaks the rule in any one of its fields.
TEST(HldWriter, OtherPayloadStandsForNothing) {
  const Words subevent = {8, 1 << 16, 0x2001, 5, 20, 0x00020011, 0x8000, 1, 11};
  EXPECT_TRUE(read_hld_hit(subevent).has_value());
  EXPECT_TRUE(read_hld_hit(Words{3, 1 << 16, 0x2001, 5}).has_value());
  for (const std::uint32_t size : {0U, 15U, 16U, 21U, 0xffffffffU}) {
    auto other = subevent;
    other[4] = size;
    EXPECT_FALSE(read_hld_hit(other).has_value()) << size;
  }
  auto other = subevent;
  other[5] = 0x00040011;
  EXPECT_FALSE(read_hld_hit(other).has_value()) << "words of 16 bytes";
  EXPECT_FALSE(read_hld_hit(Words{}).has_value());
  EXPECT_FALSE(read_hld_hit(Words{2, 1, 5}).has_value());
  EXPECT_FALSE(read_hld_hit(Words{4, 1 << 16, 0x2001, 5, 16}).has_value());
}

TEST(HldOrigin, MostSubeventsGiveTheOrder) {
  const auto little = subevent({.id = 0x8010, .words = {}, .big_endian = false});
  const auto other = subevent({.id = 0x8020, .words = {}, .big_endian = false});
  const auto big = subevent({.id = 0x8000, .words = {}});
  const TemporaryFile mostly_big(event({.run = 99}, {big, big, big, little, other}));
  const auto origin = find_hld_origin(mostly_big.path());
  EXPECT_EQ(origin.run, 99U);
  EXPECT_TRUE(origin.is_big_endian(0x8000));
  EXPECT_FALSE(origin.is_big_endian(0x8010));
  EXPECT_FALSE(origin.is_big_endian(0x8020));
  EXPECT_TRUE(origin.is_big_endian(0x8030)) << "an id that was not seen";
  const TemporaryFile mostly_little(event({}, {big, little, other}));
  EXPECT_FALSE(find_hld_origin(mostly_little.path()).is_big_endian(0x8030));
  EXPECT_TRUE(find_hld_origin(mostly_little.path()).is_big_endian(0x8000));
}

TEST(HldOrigin, TextsAreReadBack) {
  for (const auto& others : std::vector<std::vector<std::uint32_t>>{{}, {0x8020}, {0, 0x8020, 0xffffffff}}) {
    const HldOrigin origin{.run = 0xfffffffe, .big_endian = false, .others = others};
    const auto found = parse_hld_origin("a first line\n" + to_text(origin) + "a last line\n");
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->run, origin.run);
    EXPECT_FALSE(found->big_endian);
    EXPECT_EQ(found->others, others);
  }
  EXPECT_FALSE(parse_hld_origin("").has_value());
  EXPECT_FALSE(parse_hld_origin("not at the start: " + to_text({})).has_value());
}

TEST(HldOrigin, DamageEndsTheSearch) {
  auto file = event({.run = 5}, {subevent({.id = 0x8000, .words = {}})});
  auto broken = event({.run = 6}, {subevent({.id = 0x8010, .words = {}, .big_endian = false})});
  overwrite(broken, 32, 3, false);
  append(file, broken);
  append(file, {1, 2, 3});
  const auto origin = find_hld_origin(TemporaryFile(file).path());
  EXPECT_EQ(origin.run, 5U);
  EXPECT_TRUE(origin.others.empty());
}

}  // namespace
}  // namespace eventloom
