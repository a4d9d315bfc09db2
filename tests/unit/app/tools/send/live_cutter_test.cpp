#include <gtest/gtest.h>

#include <vector>

#include "app/tools/send/generate_live.hpp"

namespace eventloom::test {
namespace {

constexpr std::uint32_t kEpochTicks = 100;
constexpr Tick kFlushAfter = 1000;

GenerateSettings settings(std::uint32_t epochs_per_buffer) {
  GenerateSettings settings;
  settings.base.epoch_ticks = kEpochTicks;
  settings.epochs_per_buffer = epochs_per_buffer;
  return settings;
}

HitBlock hits_at(const std::vector<Tick>& times) {
  HitBlock block;
  block.time = times;
  block.channel.resize(times.size());
  return block;
}

struct Seen {
  Epoch first = 0;
  Epoch due = 0;
  std::uint32_t hits = 0;
  friend bool operator==(const Seen&, const Seen&) = default;
};

std::vector<Seen> taken(LiveCutter& cutter) {
  std::vector<Seen> seen;
  for (const auto* buffer = cutter.front(); buffer != nullptr; buffer = cutter.front()) {
    seen.push_back({buffer->first, buffer->due, read_epoch_buffer_header(buffer->stored)->n_hits});
    cutter.pop();
  }
  return seen;
}

TEST(LiveCutter, ClosesWithTheEpochInWhichTheOldestHitIsOldEnough) {
  LiveCutter cutter(settings(1000), 0, kFlushAfter);
  cutter.take(hits_at({150, 180, 900}), 10);
  EXPECT_TRUE(taken(cutter).empty());
  EXPECT_EQ(cutter.first(), Epoch(1));
  cutter.take({}, 11);
  EXPECT_TRUE(taken(cutter).empty()) << "at tick 1100 the hit of tick 150 is not 1000 ticks old";
  cutter.take({}, 12);
  EXPECT_EQ(taken(cutter), (std::vector<Seen>{{1, 12, 3}}));
  EXPECT_EQ(cutter.first(), std::nullopt);
}

/// When a buffer is due does not depend on when its hits were handed over.
TEST(LiveCutter, IsDueWhenItWouldHaveBeenClosed) {
  LiveCutter cutter(settings(1000), 0, kFlushAfter);
  cutter.take(hits_at({150, 1190, 1210, 5000}), 100);
  EXPECT_EQ(taken(cutter), (std::vector<Seen>{{1, 12, 2}, {12, 23, 1}, {50, 61, 1}}));
}

TEST(LiveCutter, NeverReachesOverAMultiple) {
  LiveCutter cutter(settings(4), 0, kFlushAfter);
  cutter.take(hits_at({250, 399, 400, 750}), 8);
  EXPECT_EQ(taken(cutter), (std::vector<Seen>{{2, 4, 2}, {4, 8, 2}}));
}

TEST(LiveCutter, ClosesWithTheEpochInWhichItIsFull) {
  LiveCutter cutter(settings(1000), 0, kFlushAfter);
  cutter.take(hits_at(std::vector<Tick>(600, 120)), 2);
  EXPECT_EQ(taken(cutter), (std::vector<Seen>{{1, 2, 600}}));
}

TEST(LiveCutter, EndsWithWhatIsOpen) {
  LiveCutter cutter(settings(1000), 0, kFlushAfter);
  cutter.take(hits_at({150}), 2);
  cutter.end(3);
  EXPECT_EQ(taken(cutter), (std::vector<Seen>{{1, 3, 1}}));
}

}  // namespace
}  // namespace eventloom::test
