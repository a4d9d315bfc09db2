#include "io/lmd/lmd_writer.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "io/lmd/lmd_file.hpp"
#include "io/lmd/lmd_hits.hpp"
#include "lmd_maker.hpp"

namespace eventloom {
namespace {

using namespace test;

std::string text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class LmdWriterTest : public LmdTest {
 protected:
  /// Writes the event read from `bytes`, from its hits alone.
  static std::string written(const std::string& bytes) {
    LmdEvent event;
    EXPECT_TRUE(read_lmd_event(std::as_bytes(std::span(bytes)), event));
    HitBlock block;
    LmdHitMaker().append(event, 5, block);
    LmdEvent again;
    for (std::size_t i = 0; i < block.size(); ++i) {
      const auto hit = read_lmd_hit(block.payload_of(i));
      EXPECT_TRUE(hit.has_value());
      again.trigger = hit->trigger;
      again.dummy = hit->dummy;
      again.number = hit->number;
      if (hit->subevent) again.subevents.push_back(*hit->subevent);
    }
    set_lmd_length(again);
    std::vector<std::byte> out;
    append_lmd_event(again, out);
    return text(out);
  }
};

TEST_F(LmdWriterTest, HeaderIsThatOfDabcWithAMark) {
  std::vector<std::byte> bytes;
  append_lmd_header(bytes);
  Bytes expected;
  expected.u32(0x7ffffff4).u16(101).u16(1).zeros(8).u32(0xffffffff).u32(8).zeros(8).u32(1).zeros(8).add("EVTL");
  EXPECT_EQ(text(bytes), expected.text());
}

TEST_F(LmdWriterTest, OnlyOwnFilesAreRecognised) {
  std::vector<std::byte> bytes;
  append_lmd_header(bytes);
  EXPECT_TRUE(is_written_lmd(write(text(bytes) + plain_event(1))));
  EXPECT_TRUE(is_written_lmd(write(text(bytes))));
  EXPECT_FALSE(is_written_lmd(write(text(bytes).substr(0, 47))));
  EXPECT_FALSE(is_written_lmd(write(flat_header() + plain_event(1))));
  EXPECT_FALSE(is_written_lmd(write("")));
  EXPECT_FALSE(is_written_lmd(path("nothing.lmd")));
}

TEST_F(LmdWriterTest, HitsGiveTheEventBack) {
  const auto several =
      subevent(0x25f0ffff, {1, 2, 3}, 36, 3600) + subevent(0x00000001, {}) + subevent(0x1, {0xffffffff});
  for (const auto& bytes : {plain_event(1), event(0xffffffff, "", 14, 7), event(7, several, 0xffff, 0xfffe)}) {
    EXPECT_EQ(written(bytes), bytes);
  }
}

TEST_F(LmdWriterTest, HalfWordsStayHalf) {
  Bytes odd;
  odd.u32(2 + 3).u16(10).u16(1).u16(4).u8(0).u8(0).u32(0x11223344).u16(0x5566);
  const auto bytes = event(3, odd.text() + subevent(5, {9}));
  EXPECT_EQ(written(bytes), bytes);
}

TEST_F(LmdWriterTest, WhatIsWrittenIsReadBack) {
  std::vector<std::byte> bytes;
  append_lmd_header(bytes);
  LmdFile file(write(text(bytes) + plain_event(7) + plain_event(8)));
  LmdEvent event;
  std::vector<std::uint32_t> numbers;
  while (file.next(event)) {
    EXPECT_TRUE(file.problems().empty());
    numbers.push_back(event.number);
  }
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{7, 8}));
}

/// A payload that violates the rule in any of its fields.
TEST_F(LmdWriterTest, OtherPayloadStandsForNothing) {
  const Words subevent = {7, 1 << 16, 5, 6, 1 << 16 | 10, 1, 11, 12};
  EXPECT_TRUE(read_lmd_hit(subevent).has_value());
  EXPECT_TRUE(read_lmd_hit(Words{2, 1 << 16, 5}).has_value());
  for (const std::uint32_t dlen : {0U, 1U, 2U, 4U, 7U, 0xffffffffU}) {
    auto other = subevent;
    other[3] = dlen;
    EXPECT_FALSE(read_lmd_hit(other).has_value()) << dlen;
  }
  EXPECT_FALSE(read_lmd_hit(Words{}).has_value());
  EXPECT_FALSE(read_lmd_hit(Words{1, 5}).has_value());
  EXPECT_FALSE(read_lmd_hit(Words{3, 1, 5}).has_value());
  EXPECT_FALSE(read_lmd_hit(Words{3, 1 << 16, 5, 2}).has_value());
}

}  // namespace
}  // namespace eventloom
