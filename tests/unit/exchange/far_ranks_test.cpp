/// Ranks of different hosts: credits complete puts, and nothing waits for a flush.

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <vector>

#include "core/exchange/inbox.hpp"
#include "core/exchange/message_memory.hpp"
#include "core/exchange/outbox.hpp"
#include "tests/support/loopback_transport.hpp"

namespace eventloom {
namespace {

/// One ring from the first of two ranks to the second, with a window for data and one for credits.
struct FarPair {
  explicit FarPair(RingGeometry geometry, bool near = false)
      : data({0, geometry.ring_bytes()}, 5),
        control({kCreditBytes, 0}, 6),
        outbox(RingProducer({data.rank(0), control.rank(0)}, 1, 0, 0, geometry),
               near ? Outbox::BodyCrc::staged : Outbox::BodyCrc::all),
        inbox({RingConsumer({data.rank(1), control.rank(1)}, 0, 0, 0, geometry)}) {
    data.set_near(near);
    control.set_near(near);
    inbox.grant({1'000'000}, true);
    control.rank(1).flush_all();
  }

  /// Sends a message of the slice. Returns whether all of it was put.
  bool send(std::uint64_t slice, std::span<const std::byte> body) {
    if (!outbox.accepts({slice})) return false;
    outbox.start({{slice}, 0, true, 0, {body}});
    outbox.pump();
    outbox.publish();
    return outbox.free();
  }
  /// Receives everything in flight; the sender does not flush. `at`: the receiver's time.
  std::size_t receive(std::chrono::microseconds at) {
    std::size_t cells = 0;
    for (int i = 0; i < 1000; ++i) {
      data.rank(0).progress();
      cells += inbox.drain(assembler);
    }
    inbox.grant({1'000'000}, false);
    inbox.grant_far(Inbox::SteadyTime(at));
    control.rank(1).flush_all();
    return cells;
  }

  LoopbackFabric data;
  LoopbackFabric control;
  Outbox outbox;
  Inbox inbox;
  SliceAssembler assembler{1};
};

const std::vector<std::byte> kLarge(5000, std::byte{7});
const std::vector<std::byte> kSmall(100, std::byte{9});

/// Places, descriptors and copies are reused many times; the fabric throws if a source changes before completion.
TEST(FarRanks, SendManyRoundsWithoutAFlush) {
  for (const auto& body : {kLarge, kSmall}) {
    FarPair pair({4, 8192});
    std::uint64_t sent = 0;
    for (int round = 0; round < 20; ++round) {
      while (pair.send(sent, body)) ++sent;
      pair.receive(std::chrono::microseconds(10 * round));
      pair.receive(std::chrono::microseconds(10 * round + 5));
    }
    EXPECT_GE(sent, 20U * 4);
    EXPECT_EQ(pair.data.rank(0).rounds(1), 0U) << "flushes";
  }
}

TEST(FarRanks, KeepNoMoreCopiesThanTheirBoundAndWaitForCredits) {
  const RingGeometry geometry{8, 1U << 19};
  const auto most = most_staged_cells(geometry);
  ASSERT_LT(most, geometry.depth);
  FarPair pair(geometry);
  std::uint64_t sent = 0;
  while (pair.send(sent, kSmall)) ++sent;
  EXPECT_EQ(sent, most) << "one in each cell";
  EXPECT_EQ(pair.receive(std::chrono::microseconds(0)), most);
  EXPECT_TRUE(pair.send(sent, kSmall)) << "more than half a ring is free, which is granted at once";
  EXPECT_EQ(pair.data.rank(0).rounds(1), 0U) << "flushes";
}

TEST(FarRanks, AreGrantedSingleCellsAfterFiveMicroseconds) {
  FarPair pair({8, 8192});
  EXPECT_EQ(pair.inbox.due(), Inbox::SteadyTime::max());
  ASSERT_TRUE(pair.send(0, kSmall));
  EXPECT_EQ(pair.receive(std::chrono::microseconds(100)), 1U);
  EXPECT_EQ(pair.inbox.due(), Inbox::SteadyTime(std::chrono::microseconds(105)));
  pair.receive(std::chrono::microseconds(104));
  EXPECT_EQ(pair.outbox.complete_cells(), 0U);
  pair.receive(std::chrono::microseconds(105));
  EXPECT_EQ(pair.outbox.complete_cells(), 1U);
  EXPECT_EQ(pair.inbox.due(), Inbox::SteadyTime::max());
}

TEST(FarRanks, HaveMemoryForEachMessageInFlight) {
  FarPair pair({8, 8192});
  MessageMemory<std::vector<std::byte>> memory;
  std::set<const std::byte*> blocks;
  const auto send = [&](std::uint64_t slice) {
    auto& body = memory.next(pair.outbox);
    body.assign(kLarge.begin(), kLarge.end());
    blocks.insert(body.data());
    return pair.send(slice, body);
  };
  for (std::uint64_t slice = 0; slice < 3; ++slice) ASSERT_TRUE(send(slice));
  EXPECT_EQ(blocks.size(), 3U);
  pair.receive(std::chrono::microseconds(0));
  pair.receive(std::chrono::microseconds(5));
  for (std::uint64_t slice = 3; slice < 6; ++slice) ASSERT_TRUE(send(slice));
  EXPECT_EQ(blocks.size(), 3U) << "the same memory again";
  EXPECT_EQ(pair.data.rank(0).rounds(1), 0U) << "flushes";
}

TEST(NearRanks, HaveMemoryForOneMessageAndFlush) {
  FarPair pair({8, 8192}, true);
  MessageMemory<std::vector<std::byte>> memory;
  std::set<const std::byte*> blocks;
  for (std::uint64_t slice = 0; slice < 4; ++slice) {
    auto& body = memory.next(pair.outbox);
    body.assign(kLarge.begin(), kLarge.end());
    blocks.insert(body.data());
    ASSERT_TRUE(pair.send(slice, body));
  }
  EXPECT_EQ(blocks.size(), 1U);
}

}  // namespace
}  // namespace eventloom
