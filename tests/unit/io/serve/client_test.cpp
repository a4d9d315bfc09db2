#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include "io/serve/mbs_server_client.hpp"
#include "io/serve/mbs_server_socket.hpp"

namespace eventloom {
namespace {

constexpr std::int64_t kTimeout = 1000;

MbsGroupPtr group_of(std::size_t bytes, char content, std::uint32_t events = 1) {
  MbsGroup group;
  group.bytes.assign(bytes, static_cast<std::byte>(content));
  group.buffers = 1;
  group.events = events;
  return std::make_shared<const MbsGroup>(std::move(group));
}

MbsGroupPtr handshake() {
  MbsGroup group;
  group.bytes.assign(2, std::byte{'h'});
  return std::make_shared<const MbsGroup>(std::move(group));
}

/// The two ends of a connection.
class MbsServerClientTest : public testing::Test {
 protected:
  MbsServerClientTest() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_.data()), 0); }
  ~MbsServerClientTest() override { close(ends_[1]); }

  MbsServerClient make(bool by_request) { return {MbsServerSocket(ends_[0]), "somebody", by_request, handshake(), 0}; }
  void ask(const std::string& word) const {
    std::array<char, 12> text{};
    word.copy(text.data(), text.size());
    EXPECT_EQ(write(ends_[1], text.data(), text.size()), 12);
  }
  [[nodiscard]] std::string read_all() const {
    std::string all;
    std::array<char, 4096> buffer{};
    for (ssize_t n = 0; (n = read(ends_[1], buffer.data(), buffer.size())) > 0;) {
      all.append(buffer.data(), static_cast<std::size_t>(n));
    }
    return all;
  }

  std::array<int, 2> ends_{};
};

TEST_F(MbsServerClientTest, ByRequestOneGroupAnswersEachRequest) {
  auto client = make(true);
  client.queue(group_of(3, 'a'));
  client.queue(group_of(3, 'b'));
  client.send(1);
  EXPECT_EQ(read_all(), "hh");
  EXPECT_FALSE(client.writes());
  ask("GETEVT");
  client.receive(2);
  client.send(2);
  EXPECT_EQ(read_all(), "aaa");
  ask("GETEVT");
  ask("GETEVT");
  client.receive(3);
  client.send(3);
  EXPECT_EQ(read_all(), "bbb");
  EXPECT_TRUE(client.is_waiting());
  EXPECT_EQ(client.counts().events, 2U);
  EXPECT_EQ(client.counts().bytes, 8U);
}

TEST_F(MbsServerClientTest, OtherwiseGroupsArePushed) {
  auto client = make(false);
  client.queue(group_of(3, 'a'));
  client.queue(group_of(3, 'b'));
  ask("GETEVT");  // useless but harmless
  client.receive(1);
  client.send(1);
  EXPECT_EQ(read_all(), "hhaaabbb");
  EXPECT_FALSE(client.is_waiting());
}

TEST_F(MbsServerClientTest, RequestsAreNotTakenInWithoutEnd) {
  auto client = make(true);
  for (int i = 0; i < 64; ++i) ask("GETEVT");
  EXPECT_TRUE(client.reads());
  client.receive(1);
  EXPECT_FALSE(client.reads());
}

TEST_F(MbsServerClientTest, WhatIsDroppedIsTheOldestAndCounted) {
  auto client = make(true);
  client.queue(group_of(10, 'a', 3));
  client.queue(group_of(20, 'b', 4));
  client.drop_oldest();
  EXPECT_EQ(client.queued_bytes(), 20U);
  EXPECT_EQ(client.counts().dropped_events, 3U);
  EXPECT_EQ(client.counts().dropped_buffers, 1U);
}

TEST_F(MbsServerClientTest, CloseEndsIt) {
  auto client = make(true);
  ask("CLOSE");
  client.receive(1);
  EXPECT_EQ(client.end(), MbsClientEnd::left);
}

/// A server's end of a TCP connection, and the peer at the other end.
class MbsServerClientOverTcp : public testing::Test {
 protected:
  MbsServerClient connect_peer(bool by_request) {
    const auto listener = listen_on("127.0.0.1", 0, "");
    sockaddr_in address{};
    socklen_t length = sizeof address;
    EXPECT_EQ(getsockname(listener.fd(), reinterpret_cast<sockaddr*>(&address), &length), 0);
    peer_ = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(peer_, reinterpret_cast<const sockaddr*>(&address), length), 0);
    std::string name;
    MbsServerClient client(accept_from(listener, name), name, by_request, handshake(), 0);
    client.send(1);
    read(2);
    return client;
  }
  void read(std::size_t bytes) const {
    std::string buffer(bytes, '?');
    EXPECT_EQ(recv(peer_, buffer.data(), bytes, MSG_WAITALL), static_cast<ssize_t>(bytes));
  }
  void reset() const {
    const linger at_once{1, 0};
    EXPECT_EQ(setsockopt(peer_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    close(peer_);
  }

  int peer_ = -1;
};

/// The client has read all that had arrived and has closed: no reset shows that more was sent.
TEST_F(MbsServerClientOverTcp, DataSentAfterTheClientsEndAreUnread) {
  for (const bool more : {false, true}) {
    auto client = connect_peer(false);
    close(peer_);
    if (more) {
      client.queue(group_of(1000, 'a'));
      client.send(2);
    }
    while (client.end() == MbsClientEnd::none) client.receive(3);
    EXPECT_EQ(client.end(), more ? MbsClientEnd::unread : MbsClientEnd::left);
  }
}

/// The system has accepted the reply, but nobody knows whether it has arrived.
TEST_F(MbsServerClientOverTcp, AReplyIsUnsentUntilTheNextRequestConfirmsIt) {
  for (const unsigned replies : {0U, 1U, 2U}) {
    auto client = connect_peer(true);
    for (unsigned i = 0; i < replies; ++i) {
      client.queue(group_of(1000, static_cast<char>('a' + i), 5));
      EXPECT_EQ(write(peer_, "GETEVT\0\0\0\0\0", 12), 12);
      while (client.counts().events != 5 * (i + 1)) {
        client.receive(2);
        client.send(2);
      }
      read(1000);
    }
    reset();
    while (client.end() == MbsClientEnd::none) client.receive(3);
    const auto unsent = client.unsent();
    if (replies == 0) {
      EXPECT_TRUE(unsent.empty()) << "each client receives a handshake of its own";
      continue;
    }
    ASSERT_EQ(unsent.size(), 1U);
    EXPECT_EQ(unsent.front()->bytes.front(), static_cast<std::byte>('a' + replies - 1));
    EXPECT_EQ(client.counts().events, 5 * (replies - 1));
  }
}

TEST_F(MbsServerClientTest, UnknownWordsAreRefused) {
  auto client = make(false);
  ask("HELLO");
  client.receive(1);
  EXPECT_EQ(client.end(), MbsClientEnd::refused);
}

TEST_F(MbsServerClientTest, FinishSendsWhatWaitsThenTheEnd) {
  auto client = make(false);
  client.queue(group_of(3, 'a'));
  client.finish();
  client.send(1);
  std::array<char, 8> buffer{};
  EXPECT_EQ(read(ends_[1], buffer.data(), buffer.size()), 5);
  EXPECT_EQ(read(ends_[1], buffer.data(), buffer.size()), 0);
  EXPECT_EQ(client.end(), MbsClientEnd::none);
  shutdown(ends_[1], SHUT_RDWR);
  client.receive(2);
  EXPECT_EQ(client.end(), MbsClientEnd::served);
}

/// All data have been sent before this turns out not to be a client.
TEST_F(MbsServerClientTest, UnknownWordsAreRefusedAfterTheEnd) {
  auto client = make(false);
  client.finish();
  client.send(1);
  ask("l");
  client.receive(2);
  EXPECT_EQ(client.end(), MbsClientEnd::refused);
}

TEST_F(MbsServerClientTest, CloseAfterTheEndMeansServed) {
  auto client = make(false);
  client.finish();
  client.send(1);
  ask("CLOSE");
  client.receive(2);
  EXPECT_EQ(client.end(), MbsClientEnd::served);
}

TEST_F(MbsServerClientTest, CutLeavesOutWhatHasNotBegun) {
  auto client = make(false);
  client.queue(group_of(3, 'a'));
  client.cut();
  client.send(1);
  EXPECT_EQ(read_all(), "hh");
  EXPECT_EQ(client.queued_bytes(), 0U);
}

TEST_F(MbsServerClientTest, WhoTakesNothingOfWhatWaitsIsTimedOut) {
  auto client = make(true);
  client.send(0);
  client.expire(10 * kTimeout, kTimeout);  // no data have waited for it
  EXPECT_EQ(client.end(), MbsClientEnd::none);
  client.queue(group_of(3, 'a'));
  client.expire(11 * kTimeout, kTimeout);
  EXPECT_EQ(client.end(), MbsClientEnd::none);
  client.expire(11 * kTimeout + 1, kTimeout);
  EXPECT_EQ(client.end(), MbsClientEnd::timed_out);
}

TEST_F(MbsServerClientTest, TakingSomethingGivesTime) {
  auto client = make(false);
  client.queue(group_of(std::size_t{4} << 20, 'a'));
  client.send(0);
  EXPECT_TRUE(client.writes());
  (void)read_all();
  client.send(kTimeout);
  client.expire(2 * kTimeout, kTimeout);
  EXPECT_EQ(client.end(), MbsClientEnd::none);
  client.expire(2 * kTimeout + 1, kTimeout);
  EXPECT_EQ(client.end(), MbsClientEnd::timed_out);
}

TEST_F(MbsServerClientTest, WhoHasBeenSentAllIsNotWaitedForLong) {
  auto client = make(false);
  client.finish();
  client.send(0);
  client.expire(2'000'000'000, kTimeout);
  EXPECT_EQ(client.end(), MbsClientEnd::none);
  client.expire(2'000'000'001, kTimeout);
  EXPECT_EQ(client.end(), MbsClientEnd::served);
}

TEST_F(MbsServerClientTest, ItIsAClientOnceItHasBeenSilentForAWhile) {
  auto client = make(false);
  EXPECT_TRUE(client.is_on_trial());
  EXPECT_FALSE(client.admit(99, 100));
  EXPECT_FALSE(client.is_admitted());
  EXPECT_TRUE(client.admit(100, 100));
  EXPECT_TRUE(client.is_admitted());
  EXPECT_FALSE(client.is_on_trial());
  EXPECT_FALSE(client.admit(200, 100)) << "it is already";
}

TEST_F(MbsServerClientTest, WhatItSaidIsHeardBeforeItIsAdmitted) {
  auto client = make(false);
  ask("l");
  EXPECT_FALSE(client.admit(100, 100));
  EXPECT_EQ(client.end(), MbsClientEnd::refused);
}

TEST_F(MbsServerClientTest, HalfARequestIsNotSilence) {
  auto client = make(false);
  EXPECT_EQ(write(ends_[1], "GETEVT", 6), 6);
  EXPECT_FALSE(client.admit(100, 100));
  EXPECT_EQ(write(ends_[1], "\0\0\0\0\0\0", 6), 6);
  EXPECT_TRUE(client.admit(101, 100));
}

TEST_F(MbsServerClientTest, ByRequestItIsAClientOnceItHasAsked) {
  auto client = make(true);
  EXPECT_FALSE(client.is_on_trial());
  EXPECT_FALSE(client.admit(1'000'000, 100));
  ask("GETEVT");
  client.receive(1);
  EXPECT_TRUE(client.admit(1, 100));
}

TEST_F(MbsServerClientTest, WhatItWasNotSentCompletelyIsLeft) {
  auto client = make(false);
  client.queue(group_of(std::size_t{4} << 20, 'a', 3));
  client.queue(group_of(3, 'b', 4));
  client.send(1);  // part of the 'a' bytes
  ASSERT_EQ(client.unsent().size(), 2U);
  EXPECT_EQ(client.unsent().front()->events, 3U);
  EXPECT_EQ(client.unsent().back()->events, 4U);
  EXPECT_EQ(client.counts().events, 0U);
}

TEST_F(MbsServerClientTest, AHandshakeThatWasNotSentIsNoData) {
  auto client = make(false);
  EXPECT_TRUE(client.unsent().empty());
}

}  // namespace
}  // namespace eventloom
