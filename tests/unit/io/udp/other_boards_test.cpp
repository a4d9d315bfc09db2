#include "io/udp/other_boards.hpp"

#include <gtest/gtest.h>

#include "board_maker.hpp"

namespace eventloom::test {
namespace {

bool take(OtherBoards& others, const Bytes& bytes) {
  const auto datagram = read_datagram(bytes);
  EXPECT_TRUE(datagram);
  return datagram && others.take(*datagram);
}

TEST(OtherBoards, CountsWhatTheySendByTheirOwnCounts) {
  OtherBoards others;
  EXPECT_TRUE(others.remark(3).empty());
  EXPECT_EQ(others.boards(), 0U);
  BoardMaker five(5);
  EXPECT_TRUE(take(others, five.header({})));
  five.buffer(0, 2, 20);  // before the first one received
  EXPECT_FALSE(take(others, five.one(five.buffer(3, 2, 7), 1)));
  five.buffer(6, 2, 4);  // lost on the way
  EXPECT_FALSE(take(others, five.one(five.buffer(9, 2, 5), 3)));
  BoardMaker nine(9);
  EXPECT_TRUE(take(others, nine.one(nine.buffer(0, 1, 2), 0)));
  nine.buffer(6, 2, 3);
  EXPECT_FALSE(take(others, nine.mark(DatagramKind::end, 8)));
  EXPECT_EQ(others.boards(), 2U);
  EXPECT_EQ(others.counters()[Metric::other_boards], 2U);
  EXPECT_EQ(others.counters()[Metric::hits_of_other_boards], 7U + 4 + 5 + 2 + 3);
  const auto remark = others.remark(7);
  EXPECT_NE(remark.find("?sources=5,7,9"), std::string::npos) << remark;
  EXPECT_NE(remark.find("21 hits"), std::string::npos) << remark;
}

TEST(OtherBoards, AddsTheirSessions) {
  OtherBoards others;
  for (std::uint32_t session = 1; session < 4; ++session) {
    BoardMaker board(5, session);
    take(others, board.one(board.buffer(0, 2, 10), 0));
  }
  EXPECT_EQ(others.counters()[Metric::hits_of_other_boards], 30U);
}

TEST(OtherBoards, IsNotFloodedByStrangers) {
  OtherBoards others;
  for (std::uint32_t source = 0; source < 1000; ++source) take(others, BoardMaker(source).header({}));
  EXPECT_EQ(others.boards(), OtherBoards::kMost);
  BoardMaker liar(0);
  take(others, liar.mark(DatagramKind::mark, 0, {.complete = 1, .hits = 1}));
  take(others, liar.mark(DatagramKind::mark, 0, {.complete = 1, .hits = ~std::uint64_t{0}}));
  EXPECT_EQ(others.counters()[Metric::hits_of_other_boards], 0U);
}

}  // namespace
}  // namespace eventloom::test
