#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "io/serve/mbs_tap.hpp"

namespace eventloom {
namespace {

constexpr MbsLayout kSmallLayout{.buffer_bytes = 4096};

MbsClientsSettings tap_settings(bool by_request, std::size_t client_bytes = 1000) {
  MbsClientsSettings settings;
  settings.by_request = by_request;
  settings.drops = true;
  settings.client_bytes = client_bytes;
  settings.most = 2;
  return settings;
}

MbsGroupPtr tap_group(std::size_t bytes, char content) {
  MbsGroup group;
  group.bytes.assign(bytes, static_cast<std::byte>(content));
  group.buffers = 1;
  group.events = 10;
  return std::make_shared<const MbsGroup>(std::move(group));
}

void wait_until(const std::function<bool()>& holds) {
  while (!holds()) std::this_thread::yield();  // ctest's timeout ends this
}

/// A client's end of a connection.
class TapClient {
 public:
  explicit TapClient(const MbsTap& tap) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    const auto& address = tap.address();
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  ~TapClient() { close(fd_); }
  TapClient(const TapClient&) = delete;
  TapClient& operator=(const TapClient&) = delete;

  void ask() const { say(std::string("GETEVT\0\0\0\0\0\0", 12)); }
  void say(const std::string& bytes) const {
    EXPECT_EQ(write(fd_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  /// Reads `n` bytes, or fewer at the end.
  [[nodiscard]] std::string read_bytes(std::size_t n) const {
    std::string all(n, '\0');
    std::size_t at = 0;
    for (ssize_t got = 1; at < n && (got = read(fd_, all.data() + at, n - at)) > 0;)
      at += static_cast<std::size_t>(got);
    all.resize(at);
    return all;
  }
  void shake_hands() const { EXPECT_EQ(read_bytes(kMbsHandshakeBytes).size(), kMbsHandshakeBytes); }

 private:
  int fd_;
};

TEST(MbsTap, ServesNoClientUntilOneConnects) {
  MbsTap tap(tap_settings(false), kSmallLayout);
  EXPECT_FALSE(tap.has_clients());
  {
    const TapClient client(tap);
    wait_until([&] { return tap.has_clients(); });
    EXPECT_EQ(tap.totals().all.clients, 1U);
  }
  wait_until([&] { return !tap.has_clients() && tap.totals().clients == 0; });
  EXPECT_EQ(tap.totals().clients, 0U);
  EXPECT_EQ(tap.totals().all.connected, 1U);
}

TEST(MbsTap, PushesToTheClientsOfATransport) {
  MbsTap tap(tap_settings(false), kSmallLayout);
  const TapClient a(tap);
  const TapClient b(tap);
  wait_until([&] { return tap.totals().clients == 2; });
  tap.give(tap_group(3, 'x'));
  tap.give(tap_group(2, 'y'));
  for (const auto* client : {&a, &b}) {
    client->shake_hands();
    EXPECT_EQ(client->read_bytes(5), "xxxyy");
  }
}

TEST(MbsTap, WhatWasGivenIsSentBeforeTheEnd) {
  MbsTap tap(tap_settings(true), kSmallLayout);
  const TapClient client(tap);
  client.shake_hands();
  client.ask();
  client.ask();
  wait_until([&] { return tap.has_clients(); });
  tap.give(tap_group(3, 'x'));
  tap.give(tap_group(2, 'y'));
  tap.end();
  EXPECT_EQ(client.read_bytes(100), "xxxyy");
  tap.join();
  const auto totals = tap.totals();
  EXPECT_EQ(totals.all.sent.events, 20U);
  EXPECT_EQ(totals.all.sent.bytes, 5 + kMbsHandshakeBytes);
  EXPECT_EQ(totals.all.sent.dropped_buffers, 0U);
  EXPECT_EQ(totals.clients, 0U);
}

TEST(MbsTap, AClientThatDoesNotAskLosesTheOldestGroups) {
  MbsTap tap(tap_settings(true, 1000), kSmallLayout);
  const TapClient idle(tap);
  const TapClient good(tap);
  good.shake_hands();
  idle.shake_hands();
  idle.ask();
  good.ask();
  wait_until([&] { return tap.totals().clients == 2; });
  tap.give(tap_group(6, 'z'));
  EXPECT_EQ(idle.read_bytes(6), "zzzzzz");
  EXPECT_EQ(good.read_bytes(6), "zzzzzz");
  for (const char content : {'a', 'b', 'c', 'd'}) {
    good.ask();
    tap.give(tap_group(600, content));
    EXPECT_EQ(good.read_bytes(600), std::string(600, content));
  }
  wait_until([&] { return tap.totals().all.sent.dropped_buffers == 2; });
  EXPECT_EQ(tap.totals().all.sent.dropped_events, 20U);
  idle.ask();
  EXPECT_EQ(idle.read_bytes(600), std::string(600, 'c'));
}

/// The program gives more than the thread can have taken: it is never delayed, and what is dropped is counted.
TEST(MbsTap, GivingNeverWaits) {
  constexpr std::size_t kGroups = 200;
  MbsTap tap(tap_settings(false, std::size_t{1} << 20), kSmallLayout);
  const TapClient stalled(tap);
  wait_until([&] { return tap.has_clients(); });
  const auto group = tap_group(std::size_t{1} << 20, 'x');
  for (std::size_t i = 0; i < kGroups; ++i) tap.give(group);
  wait_until([&] { return tap.totals().all.sent.dropped_buffers > kGroups / 2; });
}

TEST(MbsTap, FurtherClientsAreRefused) {
  MbsTap tap(tap_settings(false), kSmallLayout);
  const TapClient a(tap);
  const TapClient b(tap);
  const TapClient c(tap);
  EXPECT_EQ(c.read_bytes(1), "");
  wait_until([&] { return tap.totals().all.refused == 1; });
  wait_until([&] { return tap.totals().clients == 2; });
}

/// Open MPI looks for X displays on the ports of MBS servers: it sends 12 bytes, the first of which gives the byte
/// order.
TEST(MbsTap, AnXClientIsNone) {
  for (const bool by_request : {false, true}) {
    MbsTap tap(tap_settings(by_request), kSmallLayout);
    const TapClient probe(tap);
    probe.say(std::string("l\0\13\0\0\0\0\0\0\0\0\0", 12));
    probe.shake_hands();
    EXPECT_EQ(probe.read_bytes(1), "");
    wait_until([&] { return tap.totals().all.refused == 1; });
    EXPECT_EQ(tap.totals().all.clients, 0U);
    EXPECT_FALSE(tap.has_clients());
  }
}

TEST(MbsTap, WhoIsGoneAtOnceWasNoClient) {
  for (const bool by_request : {false, true}) {
    MbsTap tap(tap_settings(by_request), kSmallLayout);
    { const TapClient probe(tap); }
    wait_until([&] { return tap.totals().all.never == 1; });
    EXPECT_EQ(tap.totals().all.clients, 0U);
  }
}

TEST(MbsTap, ByRequestAClientIsWhoHasAsked) {
  MbsTap tap(tap_settings(true), kSmallLayout);
  const TapClient silent(tap);
  const TapClient good(tap);
  silent.shake_hands();
  good.ask();
  wait_until([&] { return tap.has_clients(); });
  EXPECT_EQ(tap.totals().clients, 1U);
  tap.give(tap_group(3, 'x'));
  good.shake_hands();
  EXPECT_EQ(good.read_bytes(3), "xxx");
  silent.ask();
  wait_until([&] { return tap.totals().clients == 2; });
  tap.give(tap_group(2, 'y'));
  EXPECT_EQ(silent.read_bytes(2), "yy");
}

TEST(MbsTap, DestructionEndsTheThread) {
  std::optional<MbsTap> tap;
  tap.emplace(tap_settings(true), kSmallLayout);
  const TapClient client(*tap);
  client.shake_hands();
  tap->give(tap_group(600, 'x'));
  tap.reset();
  EXPECT_EQ(client.read_bytes(1), "");
}

}  // namespace
}  // namespace eventloom
