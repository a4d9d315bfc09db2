#include "io/udp/board_session.hpp"

#include <gtest/gtest.h>

namespace eventloom::test {
namespace {

using Of = BoardSession::Sender;

DatagramHeader of_session(std::uint32_t session, std::uint64_t sequence = 0) {
  return {.source = 3, .session = session, .sequence = sequence};
}

TEST(BoardSession, BeginsWithTheFirst) {
  BoardSession sessions;
  EXPECT_FALSE(sessions.has_begun());
  EXPECT_EQ(sessions.sender_of(of_session(7), 0), Of::next);
  sessions.begin(of_session(7));
  EXPECT_EQ(sessions.id(), 7U);
  EXPECT_EQ(sessions.source(), 3U);
  EXPECT_EQ(sessions.sender_of(of_session(7), 0), Of::present);
  EXPECT_EQ(sessions.sender_of(of_session(8), 0), Of::next);
}

TEST(BoardSession, AFormerOneIsResumedAfterASilence) {
  BoardSession sessions;
  sessions.begin(of_session(7));
  sessions.begin(of_session(8));
  sessions.note(1000);
  EXPECT_EQ(sessions.heard_ns(), 1000);
  EXPECT_EQ(sessions.sender_of(of_session(7), 999 + BoardSession::kSilence_ns), Of::former);
  EXPECT_EQ(sessions.sender_of(of_session(7), 1000 + BoardSession::kSilence_ns), Of::resumed);
}

TEST(BoardSession, RemembersTheLastOnes) {
  BoardSession sessions;
  for (std::uint32_t session = 0; session <= BoardSession::kFormer + 1; ++session) sessions.begin(of_session(session));
  EXPECT_EQ(sessions.sender_of(of_session(0), 0), Of::next) << "forgotten";
  EXPECT_EQ(sessions.sender_of(of_session(1), 0), Of::former);
}

TEST(BoardSession, TheEndDividesRepeatedDataFromOthers) {
  BoardSession sessions;
  sessions.begin(of_session(7));
  EXPECT_FALSE(sessions.ended());
  sessions.end(5);
  EXPECT_TRUE(sessions.ended());
  EXPECT_TRUE(sessions.repeats(of_session(7, 4)));
  EXPECT_FALSE(sessions.repeats(of_session(7, 5)));
  EXPECT_FALSE(sessions.repeats(of_session(8, 4)));
  sessions.begin(of_session(8));
  EXPECT_TRUE(sessions.ended());
}

}  // namespace
}  // namespace eventloom::test
