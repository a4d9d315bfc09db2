#include "io/live/feed_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "fake_feed.hpp"

namespace eventloom::test {
namespace {

constexpr auto kDeadline = std::chrono::seconds(20);

/// Whether `thread` ends within the deadline.
bool ends(std::future<bool>& thread) { return thread.wait_for(kDeadline) == std::future_status::ready; }

/// Lets the other thread run until it most likely waits, which shows whether a queue is bounded.
void give_way() {
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
}

TEST(FeedQueue, GivesWhatWasPutInOnceAndInOrder) {
  FeedQueue queue(1000);
  const auto first = make_buffer(1, 2);
  const auto second = make_buffer(2, 1);
  EXPECT_TRUE(queue.push(first));
  EXPECT_TRUE(queue.push(second));
  const Damage lost{.first_epoch = 3, .n_epochs = 2, .n_hits = 4};
  EXPECT_TRUE(queue.push({}, {&lost, 1}));
  queue.complete_to(5);
  FeedBatch batch;
  queue.take(batch);
  EXPECT_EQ(hits_in(batch.buffers), (std::vector<Hit>{{1, 0}, {1, 1}, {2, 0}}));
  ASSERT_EQ(batch.damage.size(), 1U);
  EXPECT_EQ(batch.damage[0].first_epoch, Epoch(3));
  EXPECT_EQ(batch.complete, Epoch(5));
  EXPECT_FALSE(batch.ended);
  batch.clear();
  queue.end();
  queue.take(batch);
  EXPECT_TRUE(batch.buffers.empty());
  EXPECT_TRUE(batch.damage.empty());
  EXPECT_EQ(batch.complete, Epoch(5));
  EXPECT_TRUE(batch.ended);
}

TEST(FeedQueue, AppendsToABatchThatHoldsSomething) {
  FeedQueue queue(1000);
  FeedBatch batch;
  const std::vector<Damage> damage = {{.first_epoch = 1}, {.first_epoch = 2}};
  queue.push(make_buffer(1, 1), {&damage[0], 1});
  queue.take(batch);
  queue.push(make_buffer(2, 1), {&damage[1], 1});
  queue.take(batch);
  EXPECT_EQ(hits_in(batch.buffers), (std::vector<Hit>{{1, 0}, {2, 0}}));
  ASSERT_EQ(batch.damage.size(), 2U);
  EXPECT_EQ(batch.damage[1].first_epoch, Epoch(2));
  FeedBatch none;
  queue.take(none);
  EXPECT_TRUE(none.buffers.empty());
}

TEST(FeedQueue, WhatIsCompleteFallsWhereAStreamGoesBack) {
  FeedQueue queue(1000);
  queue.complete_to(7);
  queue.complete_to(4);
  FeedBatch batch;
  queue.take(batch);
  EXPECT_EQ(batch.complete, Epoch(4));
}

TEST(FeedQueue, IsFullAtItsSize) {
  const auto buffer = make_buffer(1, 1);
  FeedQueue queue(2 * buffer.size());
  const Damage lost{.first_epoch = 3};
  EXPECT_TRUE(queue.try_push(buffer, {}));
  EXPECT_TRUE(queue.try_push(buffer, {}));
  EXPECT_FALSE(queue.try_push(buffer, {}));
  EXPECT_TRUE(queue.try_push({}, {&lost, 1})) << "damage alone always fits";
  FeedBatch batch;
  queue.take(batch);
  EXPECT_EQ(batch.buffers.size(), 2 * buffer.size());
  EXPECT_TRUE(queue.try_push(buffer, {}));
}

/// A recording must know of a loss when it takes the buffers around it.
TEST(FeedQueue, DamageIsTakenWithTheBuffersThatItCameWith) {
  const auto buffer = make_buffer(1, 1);
  FeedQueue queue(std::size_t{1} << 20);
  std::vector<std::byte> large;
  while (large.size() < (std::size_t{200} << 10)) large.insert(large.end(), buffer.begin(), buffer.end());
  const Damage lost{.first_epoch = 3};
  EXPECT_TRUE(queue.push(large));
  EXPECT_TRUE(queue.push(large, {&lost, 1}));
  FeedBatch batch;
  queue.take(batch);
  EXPECT_EQ(batch.buffers.size(), large.size());
  EXPECT_TRUE(batch.damage.empty()) << "it belongs to the second parcel";
  batch.clear();
  queue.take(batch);
  EXPECT_EQ(batch.damage.size(), 1U);
}

TEST(FeedQueue, TakesWholeMemoryOver) {
  FeedQueue queue(std::size_t{1} << 20);
  FeedBatch batch;
  batch.buffers.reserve(5000);
  const auto* const returned = batch.buffers.data();
  queue.take(batch);
  auto second = make_buffer(2, 1);
  second.reserve(10'000);
  const auto* const memory = second.data();
  const Damage lost{.first_epoch = 3};
  EXPECT_TRUE(queue.push_whole(second, {&lost, 1}));
  EXPECT_TRUE(second.empty());
  EXPECT_EQ(second.data(), returned) << "memory that came back is used again";
  EXPECT_TRUE(queue.push(make_buffer(4, 1)));
  queue.complete_to(5);
  queue.take(batch);
  EXPECT_EQ(batch.buffers.data(), memory) << "not copied";
  EXPECT_EQ(batch.damage.size(), 1U);
  batch = {};
  queue.push(make_buffer(5, 1));
  second = make_buffer(6, 1);
  queue.push_whole(second, {});
  queue.take(batch);
  EXPECT_EQ(hits_in(batch.buffers), (std::vector<Hit>{{5, 0}}));
  EXPECT_EQ(batch.complete, Epoch(5)) << "what was complete holds for later parcels, too";
  queue.take(batch);
  EXPECT_EQ(hits_in(batch.buffers), (std::vector<Hit>{{5, 0}, {6, 0}}));
  queue.stop();
  second = make_buffer(7, 1);
  EXPECT_FALSE(queue.push_whole(second, {}));
}

TEST(FeedQueue, WholeMemoryWaitsForRoomLikeACopy) {
  auto buffer = make_buffer(1, 1);
  FeedQueue queue(buffer.size());
  queue.push(buffer);
  std::atomic<bool> begun = false;
  auto receiver = std::async(std::launch::async, [&] {
    begun = true;
    return queue.push_whole(buffer, {});
  });
  while (!begun) std::this_thread::yield();
  give_way();
  FeedBatch batch;
  queue.take(batch);
  EXPECT_EQ(hits_in(batch.buffers).size(), 1U) << "the second came in while the queue was full";
  ASSERT_TRUE(ends(receiver));
  EXPECT_TRUE(receiver.get());
}

TEST(FeedQueue, AReceiverWaitsUntilThereIsRoom) {
  const auto buffer = make_buffer(1, 1);
  FeedQueue queue(buffer.size());
  queue.push(buffer);
  std::atomic<bool> begun = false;
  auto receiver = std::async(std::launch::async, [&] {
    begun = true;
    return queue.push(buffer);
  });
  while (!begun) std::this_thread::yield();
  give_way();
  FeedBatch batch;
  queue.take(batch);
  const auto before = batch.buffers.size();
  EXPECT_EQ(before, buffer.size()) << "the second came in while the queue was full";
  ASSERT_TRUE(ends(receiver));
  EXPECT_TRUE(receiver.get());
  queue.take(batch);
  EXPECT_EQ(batch.buffers.size(), 2 * buffer.size());
}

TEST(FeedQueue, StopLetsAWaitingReceiverGoAndTakesNoMore) {
  const auto buffer = make_buffer(1, 1);
  FeedQueue queue(buffer.size());
  queue.push(buffer);
  auto receiver = std::async(std::launch::async, [&] { return queue.push(buffer); });
  queue.stop();
  ASSERT_TRUE(ends(receiver));
  EXPECT_FALSE(receiver.get());
  FeedBatch batch;
  queue.take(batch);
  EXPECT_EQ(batch.buffers.size(), buffer.size()) << "what had come is still handed over";
  EXPECT_FALSE(queue.push(buffer)) << "though there is room";
}

/// Two threads and a queue that is full most of the time: everything arrives, in order.
TEST(FeedQueue, NothingIsLostBetweenTwoThreads) {
  constexpr Epoch kBuffers = 20'000;
  constexpr std::size_t kBytes = 200;
  FeedQueue queue(kBytes);
  auto receiver = std::async(std::launch::async, [&] {
    for (Epoch epoch = 0; epoch < kBuffers; ++epoch) {
      if (!queue.push(make_buffer(epoch, 1))) return false;
      queue.complete_to(epoch + 1);
    }
    queue.end();
    return true;
  });
  Epoch next = 0;
  FeedBatch batch;
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (!batch.ended && std::chrono::steady_clock::now() < deadline) {
    batch.clear();
    if (next == 0) give_way();
    queue.take(batch);
    EXPECT_LT(batch.buffers.size(), kBytes + make_buffer(0, 1).size());
    for (const auto& hit : hits_in(batch.buffers)) {
      ASSERT_EQ(hit.epoch, next);
      ++next;
    }
    ASSERT_LE(batch.complete, next) << "complete before it was there";
    if (batch.buffers.empty()) std::this_thread::yield();
  }
  EXPECT_EQ(next, kBuffers);
  queue.stop();
  EXPECT_TRUE(receiver.get());
}

}  // namespace
}  // namespace eventloom::test
