#include "io/udp/fragment_window.hpp"

#include <gtest/gtest.h>

#include "board_maker.hpp"

namespace eventloom::test {

namespace {

constexpr auto kTaken = FragmentWindow::Verdict::taken;

struct Given {
  std::uint64_t whole = 0;
  std::uint64_t missing = 0;
};

Given drain(FragmentWindow& window, std::int64_t noticed_by = FragmentWindow::kNever) {
  Given given;
  while (const auto item = window.next(noticed_by)) {
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

TEST(FragmentWindow, AnyOrderOfFragmentsGivesTheBuffer) {
  BoardMaker board(1);
  const auto stored = board.buffer(0, 1, 60);
  auto fragments = board.data(stored, 0, 50);
  std::ranges::reverse(fragments);
  FragmentWindow window;
  for (const auto& one : fragments) {
    EXPECT_FALSE(window.next(FragmentWindow::kNever));
    EXPECT_EQ(window.put(*read_datagram(one), 0), kTaken);
  }
  const auto item = window.next(FragmentWindow::kNever);
  ASSERT_TRUE(item && std::holds_alternative<WholeBuffer>(*item));
  EXPECT_EQ(std::get<WholeBuffer>(*item).bytes, stored);
  EXPECT_EQ(window.held_bytes(), 0U);
  EXPECT_EQ(window.reordered(), fragments.size() - 1);
}

TEST(FragmentWindow, FragmentsThatDoNotFitAreNotTaken) {
  FragmentWindow window;
  const auto put = [&](std::uint32_t whole, std::uint32_t offset, std::size_t bytes) {
    return window.put(*read_datagram(fragment(0, whole, offset, bytes)), 0);
  };
  EXPECT_EQ(put(800, 100, 100), kTaken);
  EXPECT_EQ(put(800, 100, 100), FragmentWindow::Verdict::duplicate);
  EXPECT_EQ(put(808, 300, 10), FragmentWindow::Verdict::contradiction);
  EXPECT_EQ(put(800, 100, 99), FragmentWindow::Verdict::contradiction);
  EXPECT_EQ(put(800, 199, 10), FragmentWindow::Verdict::contradiction);
  EXPECT_EQ(put(800, 91, 10), FragmentWindow::Verdict::contradiction);
  EXPECT_EQ(put(800, 0, 300), FragmentWindow::Verdict::contradiction);
  EXPECT_EQ(put(800, 200, 600), kTaken);
  EXPECT_EQ(put(800, 0, 100), kTaken);
  EXPECT_EQ(drain(window).whole, 1U);
  EXPECT_EQ(put(800, 0, 100), FragmentWindow::Verdict::duplicate);
}

TEST(FragmentWindow, PromisedBytesCostNothing) {
  FragmentWindow window;
  const std::uint32_t whole = kMaxSentBufferBytes;
  for (std::uint64_t sequence = 1; sequence <= 1000; ++sequence) {
    window.put(*read_datagram(fragment(sequence, whole, whole - 8, 8)), 0);
    drain(window);
  }
  EXPECT_LE(window.held_bytes(), 1000 * (8 + FragmentWindow::kFragmentCost));
}

TEST(FragmentWindow, WhatWaitsIsBoundedInNumber) {
  FragmentWindow window;
  Given given;
  for (std::uint64_t sequence = 1; sequence <= FragmentWindow::kMostBuffers; ++sequence) {
    window.put(*read_datagram(fragment(sequence, 64, 0, 64)), 0);
    given = drain(window);
    ASSERT_EQ(given.whole, 0U);
  }
  window.put(*read_datagram(fragment(FragmentWindow::kMostBuffers + 1, 64, 0, 64)), 0);
  given = drain(window);
  EXPECT_EQ(given.missing, 1U);
  EXPECT_EQ(given.whole, FragmentWindow::kMostBuffers + 1);
}

TEST(FragmentWindow, WhatWaitsIsBoundedInBytes) {
  FragmentWindow window;
  const std::uint32_t whole = kMaxSentBufferBytes;
  std::uint64_t missing = 0;
  for (std::uint64_t sequence = 0; sequence < 4; ++sequence) {
    for (std::uint32_t offset = 0; offset + 60000 < whole; offset += 60000) {
      window.put(*read_datagram(fragment(sequence, whole, offset, 60000)), 0);
      missing += drain(window).missing;
      ASSERT_LE(window.held_bytes(), FragmentWindow::kMostBytes);
    }
  }
  EXPECT_EQ(missing, 2U);
}

TEST(FragmentWindow, ManySmallFragmentsAreBoundedToo) {
  FragmentWindow window;
  const std::uint32_t whole = kMaxSentBufferBytes;
  for (std::uint32_t offset = 0; offset < 2'000'000; offset += 2) {
    window.put(*read_datagram(fragment(0, whole, offset, 1)), 0);
    drain(window);
    ASSERT_LE(window.held_bytes(), FragmentWindow::kMostBytes);
  }
}

}  // namespace eventloom::test
