#include "io/live/shifted_feed.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/runtime/error.hpp"
#include "fake_feed.hpp"

namespace eventloom::test {
namespace {

/// (tick, channel) of contiguous buffers; epochs must ascend, and none may occur in two buffers.
std::vector<std::pair<Tick, std::uint32_t>> ticks_in(std::span<const std::byte> buffers) {
  struct Ticks {
    std::vector<std::pair<Tick, std::uint32_t>> hits;
    Tick begin = 0;

    void epoch(Epoch epoch) { begin = tick_of_epoch(epoch, kEpochTicks); }
    void hit(std::uint32_t tick, std::uint32_t channel, std::span<const std::uint32_t>) {
      hits.emplace_back(begin + Tick(tick), channel);
    }
    void tag(std::uint32_t) {}
    void peak(const Peak&) {}
    void histogram(std::uint32_t, std::span<const std::uint32_t>) {}
    void schedule(std::span<const std::uint32_t>) {}
  } found;
  const PayloadTable no_payload;
  Epoch next = 0;
  while (!buffers.empty()) {
    const auto header = read_epoch_buffer_header(buffers);
    EXPECT_GE(header->first_epoch, next);
    next = header->epochs().end;
    const MarkerContext context{header->epochs(), kEpochTicks, no_payload};
    EXPECT_FALSE(MarkerReader(words_of(*header, buffers), context, found).read());
    buffers = buffers.subspan(header->stored_bytes());
  }
  return found.hits;
}

class ShiftedFeedTest : public testing::Test {
 protected:
  void open(const std::string& keys) {
    auto feed = std::make_unique<FakeFeed>();
    inner_ = feed.get();
    shifted_ = std::make_unique<ShiftedFeed>(std::move(feed), SourceUri::parse("udp://:1?" + keys));
  }
  FeedBatch take() {
    FeedBatch batch;
    shifted_->take(batch);
    return batch;
  }

  FakeFeed* inner_ = nullptr;
  std::unique_ptr<ShiftedFeed> shifted_;
};

TEST_F(ShiftedFeedTest, HitsWaitForTheirEpochToBeComplete) {
  open("offset=500");
  inner_->add(make_buffer({{5, 1}, {6, 2}}));  // at 5001 and 6001
  auto batch = take();
  EXPECT_EQ(batch.complete, Epoch(7));
  EXPECT_EQ(ticks_in(batch.buffers), (std::vector<std::pair<Tick, std::uint32_t>>{{5501, 1}, {6501, 2}}));
  open("offset=-500");
  inner_->add(make_buffer({{5, 1}, {6, 2}}));
  batch = take();
  EXPECT_EQ(batch.complete, Epoch(6)) << "7000 becomes 6500";
  inner_->add(make_buffer({{7, 3}}));
  const auto more = take();
  batch.buffers.insert(batch.buffers.end(), more.buffers.begin(), more.buffers.end());
  EXPECT_EQ(more.complete, Epoch(7));
  EXPECT_EQ(ticks_in(batch.buffers), (std::vector<std::pair<Tick, std::uint32_t>>{{4501, 1}, {5501, 2}, {6501, 3}}));
}

TEST_F(ShiftedFeedTest, HitsThatAreAskedForComeBeforeTheirEpochIsComplete) {
  open("offset=500");
  inner_->add(make_buffer({{5, 1}, {6, 2}}));  // at 5501 and 6501
  inner_->next.complete = 5;
  EXPECT_TRUE(take().buffers.empty());
  EXPECT_FALSE(shifted_->settle(5)) << "nothing waits before";
  EXPECT_TRUE(shifted_->settle(6));
  auto batch = take();
  EXPECT_EQ(batch.complete, Epoch(6));
  EXPECT_EQ(ticks_in(batch.buffers), (std::vector<std::pair<Tick, std::uint32_t>>{{5501, 1}}));
  EXPECT_FALSE(shifted_->settle(6)) << "nothing waits any more";
  inner_->next.complete = 7;
  batch = take();
  EXPECT_EQ(batch.complete, Epoch(7));
  EXPECT_EQ(ticks_in(batch.buffers), (std::vector<std::pair<Tick, std::uint32_t>>{{6501, 2}}));
}

TEST_F(ShiftedFeedTest, TheFeedIsAskedForTheEpochsThatItsTimesNeed) {
  for (const auto& [keys, epoch] :
       {std::pair{"offset=500", 10U}, {"offset=-500", 11U}, {"offset=3000", 7U}, {"offset=20000", 0U}}) {
    open(keys);
    inner_->holds_back = true;
    EXPECT_TRUE(shifted_->settle(10));
    EXPECT_EQ(inner_->settled, std::vector<Epoch>{Epoch(epoch)}) << keys;
  }
}

TEST_F(ShiftedFeedTest, TheLastHitsComeWithTheEnd) {
  open("offset=1999&system=3");
  inner_->add(make_buffer({{5, 1}}));
  inner_->next.complete = 5;
  EXPECT_TRUE(take().buffers.empty());
  inner_->next.ended = true;
  const auto batch = take();
  EXPECT_TRUE(batch.ended);
  EXPECT_EQ(ticks_in(batch.buffers), (std::vector<std::pair<Tick, std::uint32_t>>{{7000, 3U << 22 | 1}}));
}

TEST_F(ShiftedFeedTest, DamageCoversAllEpochsThatItMayTouch) {
  open("offset=10500");
  inner_->next.damage = {{.first_epoch = 2, .n_epochs = 3, .n_hits = 9, .cause = DropCause::lost}};
  inner_->next.complete = 5;
  const auto batch = take();
  ASSERT_EQ(batch.damage.size(), 1U);
  EXPECT_EQ(batch.damage[0].first_epoch, Epoch(12));
  EXPECT_EQ(epochs_of(batch.damage[0]).end, Epoch(16)) << "5000 becomes 15500";
  EXPECT_EQ(batch.damage[0].n_hits, 9U);
}

TEST_F(ShiftedFeedTest, HitsBeforeTickZeroAreDamage) {
  open("offset=-5500");
  inner_->add(make_buffer({{4, 1}, {5, 2}, {6, 3}}));  // 4001, 5001, 6001
  const auto batch = take();
  inner_->next.ended = true;
  EXPECT_EQ(ticks_in(take().buffers), (std::vector<std::pair<Tick, std::uint32_t>>{}));
  EXPECT_EQ(ticks_in(batch.buffers), (std::vector<std::pair<Tick, std::uint32_t>>{{501, 3}}));
  ASSERT_EQ(batch.damage.size(), 1U);
  EXPECT_EQ(batch.damage[0].n_hits, 2U);
  EXPECT_EQ(batch.damage[0].cause, DropCause::untimed);
}

TEST_F(ShiftedFeedTest, APeerThatJumpsBackRestarts) {
  open("offset=500");
  inner_->add(make_buffer({{1000, 1}}));
  inner_->next.complete = 1000;
  EXPECT_TRUE(take().buffers.empty());
  inner_->add(make_buffer({{5, 2}}));
  const auto batch = take();
  std::span<const std::byte> all = batch.buffers;
  const auto first = read_epoch_buffer_header(all)->stored_bytes();
  EXPECT_EQ(ticks_in(all.first(first)).front().first, Tick(1'000'501));
  EXPECT_EQ(ticks_in(all.subspan(first)).front().first, Tick(5501));
}

TEST_F(ShiftedFeedTest, WhatWasAskedForIsForgottenWhereAPeerJumpsBack) {
  open("offset=500");
  inner_->add(make_buffer({{1000, 1}}));
  inner_->next.complete = 1000;
  (void)take();
  EXPECT_TRUE(shifted_->settle(1001));
  EXPECT_EQ(take().complete, Epoch(1001));
  inner_->add(make_buffer({{5, 2}}));
  inner_->next.complete = 5;
  const auto batch = take();
  EXPECT_EQ(batch.complete, Epoch(5));
  EXPECT_TRUE(batch.buffers.empty()) << "more of epoch 5 may come";
}

TEST_F(ShiftedFeedTest, NothingIsDecodedBeforeTheHeaderIsKnown) {
  open("offset=500&system=1");
  inner_->known = false;
  inner_->add(make_buffer({{5, 1}}));
  const auto batch = take();
  EXPECT_TRUE(batch.buffers.empty());
  EXPECT_EQ(batch.first_epoch, Epoch(5));
  inner_->said.payload.words[9] = 2;
  (void)shifted_->fix_header();
  EXPECT_EQ(ticks_in(take().buffers).front(), (std::pair<Tick, std::uint32_t>{5501, 1})) << "the system cannot be set";
  EXPECT_EQ(shifted_->anomalies(), inner_->anomalies() + 1);
}

TEST_F(ShiftedFeedTest, ABufferThatDoesNotDecodeIsDamage) {
  open("offset=500");
  auto bytes = make_buffer(5, 10);
  bytes[sizeof(EpochBufferHeader) + 9] ^= std::byte{1};
  inner_->add(bytes);
  const auto batch = take();
  EXPECT_TRUE(batch.buffers.empty());
  ASSERT_EQ(batch.damage.size(), 1U);
  EXPECT_EQ(batch.damage[0].n_hits, 10U);
  EXPECT_EQ(batch.damage[0].cause, DropCause::corrupt);
  EXPECT_EQ(epochs_of(batch.damage[0]), (EpochRange{5, 7}));
}

TEST_F(ShiftedFeedTest, RefusesKeysThatCannotBe) {
  EXPECT_THROW(open("offset=soon"), UserError);
  EXPECT_THROW(open("system=64"), UserError);
}

}  // namespace
}  // namespace eventloom::test
