#include "core/engine/ring_rule.hpp"

#include <gtest/gtest.h>

namespace eventloom {

namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = kKiB * kKiB;

std::uint64_t bytes_of(const RingSize& ring) { return ring.bytes(); }

}  // namespace

TEST(RingRule, ARingHoldsMoreThanAMessage) {
  for (std::uint64_t message = 1; message < 64 * kMiB; message = message * 5 / 3 + 7) {
    for (const std::uint64_t rings : {1, 2, 64, 5000}) {
      for (const std::uint64_t cache : {256 * kKiB, kMiB, 2 * kMiB, 64 * kMiB}) {
        const RingNeeds needs{.message_bytes = message, .rings = rings, .l2_cache = cache};
        const auto ring = ring_size(needs);
        EXPECT_GE(ring.messages(message), 2U) << message;
        // A ring holds four messages unless they exceed the cache.
        if (4 * message + 64 * kKiB < cache / 2) {
          EXPECT_GE(ring.messages(message), 4U) << message << ", " << cache;
        }
        if (ring.messages(message) > 2) {
          EXPECT_LE(bytes_of(ring), cache) << message << ", " << cache;
        }
      }
    }
  }
}

TEST(RingRule, AMessageTakesFewCells) {
  for (const std::uint64_t message : {kKiB, 64 * kKiB, 65 * kKiB, 528'000UL, kMiB}) {
    const auto ring = ring_size({.message_bytes = message});
    EXPECT_GE(ring.cell_size, message);
    EXPECT_LE(ring.cell_size, std::max(64 * kKiB, message + 4 * kKiB));
  }
  const auto ring = ring_size({.message_bytes = 10 * kMiB + 1});
  EXPECT_LE(ring.cell_size, 4 * kMiB);
  EXPECT_EQ(ring.depth, 2 * 3U);
}

TEST(RingRule, TheCasesOfIssue36) {
  EXPECT_EQ(ring_size({.message_bytes = 528'000}), (RingSize{2, 516 * kKiB}));
  EXPECT_EQ(ring_size({.message_bytes = kMiB}), (RingSize{2, kMiB}));
  EXPECT_EQ(ring_size({.message_bytes = 256 * kKiB, .rings = 64}), (RingSize{4, 256 * kKiB}));
  EXPECT_EQ(ring_size({.message_bytes = 256 * kKiB, .l2_cache = kMiB}), (RingSize{4, 256 * kKiB}));
  EXPECT_EQ(ring_size({.message_bytes = 16 * kKiB}), (RingSize{8, 64 * kKiB}));
}

TEST(RingRule, ManyRingsForSmallMessagesHaveFewerCells) {
  EXPECT_EQ(ring_size({.message_bytes = kKiB, .rings = 4}).depth, 8U);
  EXPECT_EQ(ring_size({.message_bytes = kKiB, .rings = 5}).depth, 4U);
}

TEST(RingRule, MessagesOfUnknownSizeMayBeSmall) {
  EXPECT_EQ(ring_size({.rings = 1000}), (RingSize{8, 64 * kKiB}));
  EXPECT_EQ(ring_size({.l2_cache = 256 * kKiB}), (RingSize{4, 64 * kKiB}));
}

TEST(RingRule, WhatTheUserSaysIsTaken) {
  const RingNeeds needs{.message_bytes = kMiB, .rings = 100, .memory = kMiB};
  EXPECT_EQ(ring_size(needs, {3, 256}), (RingSize{3, 256}));
  EXPECT_EQ(ring_size(needs, {{}, 64 * kKiB}), (RingSize{32, 64 * kKiB}));
  EXPECT_EQ(ring_size(needs, {4, {}}), (RingSize{4, kMiB}));
  // 32 MiB in cells of at most 4 MiB would not fit a ring of 4.
  EXPECT_EQ(ring_size({.message_bytes = 32 * kMiB}, {4, {}}), (RingSize{4, 16 * kMiB}));
  EXPECT_EQ(ring_size({.message_bytes = 32 * kMiB}, {1, {}}), (RingSize{1, 32 * kMiB}));
}

TEST(RingRule, MemoryIsKeptAndMessagesAsLongAsItAllows) {
  for (const std::uint64_t message : {kKiB, 20 * kKiB, 64 * kKiB, 528'000UL, 3 * kMiB}) {
    for (std::uint64_t memory = 64 * kMiB; memory > 512 * kKiB; memory = memory * 3 / 4) {
      const auto ring = ring_size({.message_bytes = message, .rings = 10, .memory = 10 * memory});
      EXPECT_LE(bytes_of(ring), memory) << message;
      // With twice the room of two messages, the rule has no reason to hold fewer.
      if (4 * message + 16 * kKiB <= memory) {
        EXPECT_GE(ring.messages(message), 2U) << message << " in " << memory;
      }
      if (3 * message + 48 * kKiB <= memory) {
        EXPECT_GE(ring.messages(message), 1U) << message << " in " << memory;
      }
    }
  }
}

TEST(RingRule, SmallRingsAreNotMadeSmallerOnTheirOwn) {
  EXPECT_EQ(ring_size({.rings = 100'000, .memory = kMiB}), (RingSize{8, 64 * kKiB}));
  const auto ring = ring_size({.message_bytes = 3 * kMiB, .rings = 100'000, .memory = kMiB});
  EXPECT_LE(bytes_of(ring), 512 * kKiB);
  EXPECT_GT(bytes_of(ring), 256 * kKiB);
}

TEST(RingRule, EachStepMakesRingsSmallerAndTheCheapestComeFirst) {
  for (const std::uint64_t message : {1UL, kKiB, 20 * kKiB, 64 * kKiB, 528'000UL, 5 * kMiB}) {
    RingSize ring{64, 8 * kMiB};
    auto before = ring;
    bool less = false;
    for (int step = 0; shrink(ring, message); ++step) {
      ASSERT_LT(step, 200);
      ASSERT_LT(bytes_of(ring), bytes_of(before)) << message;
      // Once rings hold fewer than two messages, larger messages never get room for two again.
      ASSERT_FALSE(less && ring.messages(message) >= 2) << message;
      less = ring.messages(message) < 2;
      before = ring;
    }
    EXPECT_EQ(ring, (RingSize{2, 4 * kKiB}));
  }
}

TEST(RingRule, LongerMessagesThanTheMeanFit) {
  EXPECT_EQ(usual_longest(1000), 1250U);
  EXPECT_EQ(usual_longest(0), 1U);
  EXPECT_EQ(usual_longest(1e30), kMaxMessageBytes);
}

}  // namespace eventloom
