#include "io/udp/reassembly_buffer.hpp"

#include <gtest/gtest.h>

#include "board_maker.hpp"

namespace eventloom::test {

namespace {

constexpr auto kTaken = ReassemblyBuffer::Placement::taken;

struct Given {
  std::uint64_t whole = 0;
  std::uint64_t missing = 0;
};

Given drain(ReassemblyBuffer& buffer, std::int64_t noticed_by = ReassemblyBuffer::kNever) {
  Given given;
  while (const auto item = buffer.next(noticed_by)) {
    if (std::holds_alternative<WholeBuffer>(*item)) ++given.whole;
    if (const auto* missing = std::get_if<MissingBuffers>(&*item)) given.missing += missing->n_buffers;
  }
  return given;
}

Bytes fragment(std::uint64_t sequence, std::uint32_t whole, std::uint32_t offset, std::size_t bytes) {
  DatagramHeader header;
  header.sequence = sequence;
  header.buffer_bytes = whole;
  header.offset = offset;
  return BoardMaker(1).compose(header, Bytes(bytes));
}

}  // namespace

TEST(ReassemblyBuffer, AnyOrderOfFragmentsGivesTheBuffer) {
  BoardMaker board(1);
  const auto stored = board.buffer(0, 1, 60);
  auto fragments = board.data(stored, 0, 50);
  std::ranges::reverse(fragments);
  ReassemblyBuffer buffer;
  for (const auto& one : fragments) {
    EXPECT_FALSE(buffer.next(ReassemblyBuffer::kNever));
    EXPECT_EQ(buffer.put(*read_datagram(one), 0), kTaken);
  }
  const auto item = buffer.next(ReassemblyBuffer::kNever);
  ASSERT_TRUE(item && std::holds_alternative<WholeBuffer>(*item));
  EXPECT_EQ(std::get<WholeBuffer>(*item).bytes, stored);
  EXPECT_EQ(buffer.held_bytes(), 0U);
  EXPECT_EQ(buffer.reordered(), fragments.size() - 1);
}

TEST(ReassemblyBuffer, FragmentsThatDoNotFitAreNotTaken) {
  ReassemblyBuffer buffer;
  const auto put = [&](std::uint32_t whole, std::uint32_t offset, std::size_t bytes) {
    return buffer.put(*read_datagram(fragment(0, whole, offset, bytes)), 0);
  };
  EXPECT_EQ(put(800, 100, 100), kTaken);
  EXPECT_EQ(put(800, 100, 100), ReassemblyBuffer::Placement::duplicate);
  EXPECT_EQ(put(808, 300, 10), ReassemblyBuffer::Placement::contradiction);
  EXPECT_EQ(put(800, 100, 99), ReassemblyBuffer::Placement::contradiction);
  EXPECT_EQ(put(800, 199, 10), ReassemblyBuffer::Placement::contradiction);
  EXPECT_EQ(put(800, 91, 10), ReassemblyBuffer::Placement::contradiction);
  EXPECT_EQ(put(800, 0, 300), ReassemblyBuffer::Placement::contradiction);
  EXPECT_EQ(put(800, 200, 600), kTaken);
  EXPECT_EQ(put(800, 0, 100), kTaken);
  EXPECT_EQ(drain(buffer).whole, 1U);
  EXPECT_EQ(put(800, 0, 100), ReassemblyBuffer::Placement::duplicate);
}

TEST(ReassemblyBuffer, PromisedBytesCostNothing) {
  ReassemblyBuffer buffer;
  const std::uint32_t whole = kMaxSentBufferBytes;
  for (std::uint64_t sequence = 1; sequence <= 1000; ++sequence) {
    buffer.put(*read_datagram(fragment(sequence, whole, whole - 8, 8)), 0);
    drain(buffer);
  }
  EXPECT_LE(buffer.held_bytes(), 1000 * (8 + ReassemblyBuffer::kFragmentCost));
}

/// A mark between missing buffers is reached before the data after it are given up.
TEST(ReassemblyBuffer, AMarkBetweenMissingBuffersIsReached) {
  ReassemblyBuffer buffer;
  buffer.put_mark(*read_datagram(BoardMaker(1).mark(DatagramKind::mark, 2, {7, 30})), 0);
  buffer.put(*read_datagram(fragment(5, 64, 0, 64)), 0);
  const auto first = buffer.next(ReassemblyBuffer::kAlways);
  ASSERT_TRUE(first && std::holds_alternative<MissingBuffers>(*first));
  EXPECT_EQ(std::get<MissingBuffers>(*first).n_buffers, 2U);
  const auto second = buffer.next(ReassemblyBuffer::kAlways);
  ASSERT_TRUE(second && std::holds_alternative<MarkReached>(*second));
  const auto given = drain(buffer, ReassemblyBuffer::kAlways);
  EXPECT_EQ(given.missing, 3U);
  EXPECT_EQ(given.whole, 1U);
}

TEST(ReassemblyBuffer, WhatWaitsIsBoundedInNumber) {
  ReassemblyBuffer buffer;
  Given given;
  for (std::uint64_t sequence = 1; sequence <= ReassemblyBuffer::kMostBuffers; ++sequence) {
    buffer.put(*read_datagram(fragment(sequence, 64, 0, 64)), 0);
    given = drain(buffer);
    ASSERT_EQ(given.whole, 0U);
  }
  buffer.put(*read_datagram(fragment(ReassemblyBuffer::kMostBuffers + 1, 64, 0, 64)), 0);
  given = drain(buffer);
  EXPECT_EQ(given.missing, 1U);
  EXPECT_EQ(given.whole, ReassemblyBuffer::kMostBuffers + 1);
}

TEST(ReassemblyBuffer, WhatWaitsIsBoundedInBytes) {
  ReassemblyBuffer buffer;
  const std::uint32_t whole = kMaxSentBufferBytes;
  std::uint64_t missing = 0;
  for (std::uint64_t sequence = 0; sequence < 4; ++sequence) {
    for (std::uint32_t offset = 0; offset + 60000 < whole; offset += 60000) {
      buffer.put(*read_datagram(fragment(sequence, whole, offset, 60000)), 0);
      missing += drain(buffer).missing;
      ASSERT_LE(buffer.held_bytes(), ReassemblyBuffer::kMostBytes);
    }
  }
  EXPECT_EQ(missing, 2U);
}

TEST(ReassemblyBuffer, ManySmallFragmentsAreBoundedToo) {
  ReassemblyBuffer buffer;
  const std::uint32_t whole = kMaxSentBufferBytes;
  for (std::uint32_t offset = 0; offset < 2'000'000; offset += 2) {
    buffer.put(*read_datagram(fragment(0, whole, offset, 1)), 0);
    drain(buffer);
    ASSERT_LE(buffer.held_bytes(), ReassemblyBuffer::kMostBytes);
  }
}

}  // namespace eventloom::test
