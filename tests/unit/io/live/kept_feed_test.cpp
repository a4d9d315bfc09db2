#include "io/live/kept_feed.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "fake_feed.hpp"

namespace eventloom::test {
namespace {

/// The feed of one source, before its first run.
class KeptFeedTest : public testing::Test {
 protected:
  void SetUp() override { keep(0); }

  void keep(Epoch wraps) {
    shelf_.keep(SourceId{0}, [&] {
      auto made = std::make_unique<FakeFeed>();
      made->wraps = wraps;
      feed_ = made.get();
      return made;
    });
  }
  std::unique_ptr<LiveFeed> lease() { return shelf_.lease(SourceId{0}, {}); }

  FeedShelf shelf_;
  FakeFeed* feed_ = nullptr;
};

TEST_F(KeptFeedTest, ShowsWhatIsDiscarded) {
  feed_->add(make_buffer(3, 4));
  EXPECT_EQ(shelf_.discard(), 4U);
  feed_->add(make_buffer(5, 1));
  feed_->bytes = 1000;
  EXPECT_EQ(shelf_.discard(), 1U);
  const auto feeds = shelf_.feeds();
  ASSERT_EQ(feeds.size(), 1U);
  EXPECT_EQ(feeds[0].hits, 5U);
  EXPECT_TRUE(feeds[0].connected);
  EXPECT_FALSE(feeds[0].ended);
  EXPECT_EQ(feeds[0].counters[Metric::bytes], 1000U);
}

/// What was counted before it, such as losses, is not the first run's.
TEST_F(KeptFeedTest, TheFirstRunBeginsAfterWhatWasDiscarded) {
  feed_->bytes = 1000;
  feed_->add(make_buffer(3, 4));
  EXPECT_EQ(shelf_.discard(), 4U);
  const auto leased = lease();
  feed_->bytes = 1200;
  EXPECT_EQ(leased->counts().counters[Metric::bytes], 200U);
  EXPECT_EQ(leased->anomalies(), 0U);
  feed_->add(make_buffer(5, 1));
  FeedBatch batch;
  leased->take(batch);
  ASSERT_EQ(batch.damage.size(), 1U);
  EXPECT_EQ(batch.damage[0].n_hits, 4U);
  EXPECT_EQ(hits_in(batch.buffers).size(), 1U);
}

TEST_F(KeptFeedTest, WithoutAPauseTheFirstRunHasEverything) {
  feed_->bytes = 1000;
  EXPECT_EQ(lease()->counts().counters[Metric::bytes], 1000U);
}

TEST_F(KeptFeedTest, ClosesThoseThatHoldEverythingForTheFirstRun) {
  feed_->bytes = 1000;
  EXPECT_FALSE(shelf_.close_waiting(0)) << "it holds nothing";
  FeedShelf other;
  std::swap(shelf_, other);
  keep(100);
  EXPECT_FALSE(shelf_.close_waiting(0));
  feed_->bytes = 1000;
  EXPECT_FALSE(shelf_.close_waiting(1000));
  EXPECT_TRUE(shelf_.close_waiting(999));
  EXPECT_TRUE(shelf_.feeds().empty());
  keep(100);
  const auto leased = lease();
  feed_->bytes = 1000;
  EXPECT_FALSE(shelf_.close_waiting(0)) << "a run has begun";
}

}  // namespace
}  // namespace eventloom::test
