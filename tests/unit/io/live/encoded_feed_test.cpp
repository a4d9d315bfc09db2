#include "io/live/encoded_feed.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/runtime/error.hpp"
#include "fake_feed.hpp"

namespace eventloom::test {
namespace {

using Times = std::vector<Tick>;

/// Returns hits at these times, block by block; may fail after them.
class TimesReader final : public HitReader {
 public:
  explicit TimesReader(std::vector<Times> blocks, bool fails = false) : blocks_(std::move(blocks)), fails_(fails) {}

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  bool read(HitBlock& block) override {
    block.clear();
    if (next_ == blocks_.size() && fails_) throw UserError("no hit follows");
    if (next_ == blocks_.size()) return false;
    block.time = blocks_[next_++];
    block.channel.resize(block.time.size());
    return true;
  }

 private:
  StreamHeader header_ = live_header();
  std::string name_ = "times";
  std::vector<Times> blocks_;
  bool fails_;
  std::size_t next_ = 0;
};

std::vector<Epoch> epochs_fed(std::vector<Times> blocks) {
  EncodedFeed feed(std::make_unique<TimesReader>(std::move(blocks)),
                   {.stop = [] {}, .is_connected = [] { return true; }}, ReorderLimits{1}, std::size_t{1} << 20);
  std::vector<Epoch> epochs;
  for (bool ended = false; !ended;) {
    FeedBatch batch;
    feed.take(batch);
    ended = batch.ended;
    for (const auto& hit : hits_in(batch.buffers)) epochs.push_back(hit.epoch);
    std::this_thread::yield();
  }
  return epochs;
}

TEST(EncodedFeed, DeliversAllHits) {
  EXPECT_EQ(epochs_fed({{0, 1000}, {1500, 7000}}), (std::vector<Epoch>{0, 1, 1, 7}));
}

/// Blocks of about 100 KB are handed over without a copy, smaller ones with one: every hit comes once and in order.
TEST(EncodedFeed, DeliversLargeAndSmallBlocksInOrder) {
  std::vector<Times> blocks;
  std::vector<Epoch> expected;
  Tick time = 0;
  for (std::size_t b = 0; b < 60; ++b) {
    auto& block = blocks.emplace_back();
    for (std::size_t i = 0; i < (b % 3 == 0 ? 10U : 12'000U + 700U * (b % 7)); ++i) {
      block.push_back(time);
      expected.push_back(epoch_of(time, kEpochTicks));
      time += 1;
    }
  }
  EXPECT_EQ(epochs_fed(std::move(blocks)), expected);
}

/// Epochs restart after those that have been delivered completely.
TEST(EncodedFeed, DeliversWhatComesAfterAClockThatHasGoneBack) {
  constexpr Tick kHours = 2 * Tick{3600} * 1'000'000'000;
  constexpr Epoch kThere = epoch_of(kHours, kEpochTicks);
  EXPECT_EQ(epochs_fed({{kHours, kHours + 1000, kHours + 2000, kHours + 3000}, {kHours + 4000}, {3000, 4000}, {5000}}),
            (std::vector<Epoch>{kThere, kThere + 1, kThere + 2, kThere + 3, kThere + 4, 3, 4, 5}));
}

/// Hits that waited for earlier ones are delivered; what follows them is lost.
TEST(EncodedFeed, DeliversWhatWasReadBeforeAnError) {
  EncodedFeed feed(std::make_unique<TimesReader>(std::vector<Times>{{0, 1000}, {1500, 7000}}, true),
                   {.stop = [] {}, .is_connected = [] { return true; }}, ReorderLimits{10'000}, std::size_t{1} << 20);
  std::vector<Epoch> epochs;
  std::vector<Epoch> lost;
  for (bool ended = false; !ended;) {
    FeedBatch batch;
    feed.take(batch);
    ended = batch.ended;
    for (const auto& hit : hits_in(batch.buffers)) epochs.push_back(hit.epoch);
    for (const auto& damage : batch.damage) lost.push_back(damage.first_epoch);
    std::this_thread::yield();
  }
  EXPECT_EQ(epochs, (std::vector<Epoch>{0, 1, 1, 7}));
  EXPECT_EQ(lost, std::vector<Epoch>{8});
  EXPECT_EQ(feed.anomalies(), 1U);
}

}  // namespace
}  // namespace eventloom::test
