#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/error.hpp"
#include "formats/epoch_buffer.hpp"
#include "io/recorded/block_losses.hpp"
#include "io/recorded/encoded_stream.hpp"

namespace eventloom {
namespace {

constexpr std::uint32_t kEpochTicks = 100;
constexpr Epoch kNoEnd = std::numeric_limits<Epoch>::max();
constexpr std::chrono::milliseconds kAtOnce{0};
constexpr std::chrono::hours kNever{1};

using Ticks = std::vector<Tick>;

/// Returns blocks of hits unchanged; the channel is the position in all of them.
class BlockReader final : public HitReader {
 public:
  explicit BlockReader(std::vector<Ticks> blocks, std::uint32_t flags = 0) : blocks_(std::move(blocks)) {
    header_.flags = flags;
    header_.base = {1000, kEpochTicks};
    header_.payload = PayloadTable::uniform(1);
  }
  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  [[nodiscard]] std::optional<Tick> holds_back() const override { return held; }
  void release_held() override { ++releases; }
  bool read(HitBlock& block) override {
    block.clear();
    if (at_ == blocks_.size()) return false;
    for (const auto time : blocks_[at_]) {
      block.time.push_back(time);
      block.channel.push_back(given_);
      block.payload.push_back(1000 + given_++);
    }
    ++at_;
    return true;
  }

  std::optional<Tick> held;
  int releases = 0;

 private:
  StreamHeader header_;
  std::string name_ = "blocks";
  std::vector<Ticks> blocks_;
  std::size_t at_ = 0;
  std::uint32_t given_ = 0;
};

EncodedStream stream_of(std::vector<Ticks> blocks, std::size_t reorder, std::optional<LiveReading> live) {
  return {std::make_unique<BlockReader>(std::move(blocks)), ReorderLimits{reorder}, live};
}

std::vector<std::byte> bytes_of(EncodedStream& stream, EpochRange epochs) {
  SliceData data;
  stream.collect(epochs, data);
  std::vector<std::byte> bytes;
  for (const auto& piece : data.pieces) bytes.insert(bytes.end(), piece.begin(), piece.end());
  return bytes;
}

std::vector<Damage> damage_of(EncodedStream& stream, EpochRange epochs) {
  SliceData data;
  stream.collect(epochs, data);
  std::vector<Damage> damage;
  for (const auto& d : data.damage) {
    if (epochs.contains(d.first_epoch)) damage.push_back(d);
  }
  return damage;
}

std::vector<Ticks> rising(std::size_t blocks, std::size_t hits) {
  std::vector<Ticks> all(blocks);
  Tick time = 0;
  for (auto& block : all) {
    for (std::size_t i = 0; i < hits; ++i) block.push_back(time += 37);
  }
  return all;
}

TEST(FollowingAStream, GivesTheSameBuffersStepByStep) {
  for (const auto wait : {LiveReading{kAtOnce}, LiveReading{kNever}}) {
    auto whole = stream_of(rising(50, 41), 10, std::nullopt);
    auto live = stream_of(rising(50, 41), 10, wait);
    std::vector<std::byte> bytes;
    Epoch from = 0;
    std::size_t steps = 0;
    for (auto end = live.read_on();; end = live.read_on()) {
      const auto more = bytes_of(live, {from, end.value_or(kNoEnd)});
      bytes.insert(bytes.end(), more.begin(), more.end());
      if (!end) break;
      EXPECT_GE(*end, from) << "epochs rise";
      from = *end;
      live.release_before(from);
      ++steps;
    }
    EXPECT_EQ(steps, 50U) << "one step for each block";
    EXPECT_EQ(bytes, bytes_of(whole, {0, kNoEnd}));
  }
}

TEST(FollowingAStream, CollectUpToWhatIsCompleteReadsNothing) {
  auto live = stream_of(rising(50, 100), 1, LiveReading{kAtOnce});
  const auto complete = live.read_on();
  ASSERT_TRUE(complete);
  EXPECT_EQ(*complete, Epoch(32)) << "the last hit of the block lies in epoch 37, its buffer begins here";
  EXPECT_GT(bytes_of(live, {0, *complete}).size(), 0U);
  EXPECT_FALSE(live.end_epoch()) << "the end would be known if all had been read";
  EXPECT_EQ(live.hits_read(), 100U) << "without waiting, every hit received is encoded";
}

TEST(FollowingAStream, HitsWaitForEarlierOnesAsLongAsSet) {
  std::vector<Ticks> blocks = {{1000, 2000}, {1500, 3000}, {}};
  auto patient = stream_of(blocks, 100, LiveReading{kNever});
  patient.read_on();
  EXPECT_EQ(patient.hits_read(), 0U);
  patient.read_on();
  patient.read_on();
  EXPECT_FALSE(patient.read_on());
  EXPECT_EQ(patient.hits_read(), 4U);
  EXPECT_TRUE(damage_of(patient, {0, kNoEnd}).empty());
  auto hasty = stream_of(blocks, 100, LiveReading{kAtOnce});
  hasty.read_on();
  EXPECT_EQ(hasty.hits_read(), 2U);
}

TEST(FollowingAStream, LateHitsAreLostAndCounted) {
  const std::vector<Ticks> blocks = {{1000, 2000}, {500, 3000, 600, 700}, {2999, 4000}};
  auto live = stream_of(blocks, 1, LiveReading{kAtOnce});
  while (live.read_on()) {
  }
  EXPECT_EQ(live.counts().by_name().at("hits_dropped_late"), 4U);
  EXPECT_EQ(live.hits_read(), 8U) << "lost ones are accounted for";
  std::uint64_t lost = 0;
  for (const auto& damage : damage_of(live, {0, kNoEnd})) {
    EXPECT_EQ(damage.cause, DropCause::late);
    EXPECT_EQ(damage.n_epochs, Epoch(0)) << "nothing else is missing";
    lost += damage.n_hits;
  }
  EXPECT_EQ(lost, 4U);
  auto file = stream_of(blocks, 1, std::nullopt);
  EXPECT_THROW(bytes_of(file, {0, kNoEnd}), UserError) << "in a file it is an error";
}

TEST(FollowingAStream, DamageBelongsToAStepThatIsToCome) {
  auto live = stream_of({{1000, 2000, 9000}, {1500, 9100}, {1200, 20'000}}, 1, LiveReading{kAtOnce});
  Epoch from = 0;
  std::uint64_t lost = 0;
  for (auto end = live.read_on();; end = live.read_on()) {
    for (const auto& damage : damage_of(live, {from, end.value_or(kNoEnd)})) lost += damage.n_hits;
    if (!end) break;
    from = *end;
    live.release_before(from);
  }
  EXPECT_EQ(lost, 2U) << "each loss is seen once, in a step that was yet to come";
}

TEST(FollowingAStream, AnEpochIsClosedWhenNothingMoreComes) {
  const std::vector<Ticks> blocks = {{1000, 2000}, {}, {2050, 9000}};
  auto patient = stream_of(blocks, 1, LiveReading{.longest_wait = kAtOnce, .longest_quiet = kNever});
  EXPECT_LE(patient.read_on(), Epoch(20));
  EXPECT_EQ(patient.seen_end(), Epoch(21)) << "these have arrived";
  auto hasty = stream_of(blocks, 1, LiveReading{.longest_wait = kAtOnce, .longest_quiet = kAtOnce});
  EXPECT_EQ(hasty.read_on(), Epoch(21));
  EXPECT_GT(bytes_of(hasty, {20, 21}).size(), 0U);
  EXPECT_EQ(hasty.hits_read(), 2U) << "what is complete is collected without waiting for what comes next";
  while (hasty.read_on()) {
  }
  EXPECT_EQ(hasty.counts().by_name().at("hits_dropped_late"), 1U) << "it came for an epoch that was closed";
  EXPECT_EQ(hasty.hits_read(), 4U);
}

/// Follows the stream to its end; returns the number of hits handed over.
std::uint64_t follow(EncodedStream& stream) {
  while (stream.read_on()) {
  }
  std::uint64_t hits = 0;
  SliceData data;
  stream.collect({0, kNoEnd}, data);
  for (const auto piece : data.pieces) {
    for (std::size_t at = 0; at < piece.size();) {
      const auto header = read_epoch_buffer_header(piece.subspan(at));
      hits += header->n_hits;
      at += header->stored_bytes();
    }
  }
  return hits;
}

TEST(FollowingAStream, AClockThatGoesBackBeginsASeparateStream) {
  constexpr Tick kHours = 10 * Tick{3600} * 1'000'000'000;
  // Jumps ahead, has a late hit there, and jumps back in the middle of a block.
  auto ahead = stream_of(
      {{1000, 2000}, {kHours, kHours + 500}, {kHours + 100, kHours + 700, 2100, 2300}, {2200, 9000}, {8000, 9900}}, 1,
      LiveReading{kAtOnce});
  EXPECT_EQ(follow(ahead), 5U);
  auto back = ahead.behind_the_jump();
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(follow(*back), 5U);
  EXPECT_EQ(back->first_epoch(), Epoch(21));
  EXPECT_EQ(back->counts().by_name().at("hits_dropped_late"), 2U) << "one ahead of the jump, and one after it";
  EXPECT_EQ(back->behind_the_jump(), nullptr) << "all has been read";
}

TEST(FollowingAStream, LessThanAnHourBackIsLate) {
  constexpr Tick kMinutes = 50 * Tick{60} * 1'000'000'000;
  auto live = stream_of({{1000}, {kMinutes}, {2000, 2100}, {kMinutes + 1}}, 1, LiveReading{kAtOnce});
  EXPECT_EQ(follow(live), 3U);
  EXPECT_EQ(live.behind_the_jump(), nullptr);
  EXPECT_EQ(live.counts().by_name().at("hits_dropped_late"), 2U);
}

/// Reads and releases the stream in steps, as its users do.
TEST(FollowingAStream, ALossAfterAClosedEpochIsSeen) {
  auto live = stream_of({{1000, 2000}, {}, {2050}, {2060, 2070}}, 1,
                        LiveReading{.longest_wait = kAtOnce, .longest_quiet = kAtOnce});
  Epoch from = 0;
  std::uint64_t lost = 0;
  for (std::optional<Epoch> end = 0; end; from = std::max(from, end.value_or(kNoEnd))) {
    end = live.read_on();
    for (const auto& damage : damage_of(live, {from, end.value_or(kNoEnd)})) lost += damage.n_hits;
    if (end) live.release_before(*end);
  }
  EXPECT_EQ(lost, 3U);
  EXPECT_EQ(live.counts().by_name().at("hits_dropped_late"), 3U);
}

/// An epoch is not closed while hits of it wait, and these wait no longer than allowed even if there are too many.
TEST(FollowingAStream, TheNewestBlockIsReleasedFromFullMemory) {
  auto live = stream_of({{1000}, {1010}, {}, {}}, 1000,
                        LiveReading{.longest_wait = kAtOnce, .longest_quiet = kAtOnce, .most_bytes = 0});
  live.read_on();
  EXPECT_EQ(live.hits_read(), 1U);
  auto patient = stream_of({{1000}, {1010}, {}, {}}, 1000,
                           LiveReading{.longest_wait = kNever, .longest_quiet = kAtOnce, .most_bytes = 0});
  std::uint64_t hits = 0;
  Epoch from = 0;
  for (std::optional<Epoch> end = 0; end; from = std::max(from, end.value_or(kNoEnd))) {
    end = patient.read_on();
    for (auto bytes = bytes_of(patient, {from, end.value_or(kNoEnd)}); !bytes.empty();) {
      const auto header = read_epoch_buffer_header(bytes);
      if (header->first_epoch >= from) hits += header->n_hits;
      bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header->stored_bytes()));
    }
    if (end) patient.release_before(*end);
  }
  EXPECT_EQ(hits, 2U);
}

constexpr std::uint32_t kMayLack = kNumbered | kOptional;

TEST(FollowingAStream, WhatHasComeIsDeliveredWhenOthersContinueWithout) {
  EncodedStream live(
      std::make_unique<BlockReader>(std::vector<Ticks>{{1000, 1550}, {}, {1590, 1999, 2000, 2050}, {}}, kMayLack),
      {1000}, LiveReading{.longest_wait = kNever});
  EXPECT_EQ(live.read_on(), Epoch(0)) << "these wait for others";
  EXPECT_EQ(live.read_on(20), Epoch(20));
  EXPECT_GT(bytes_of(live, {15, 20}).size(), 0U);
  EXPECT_EQ(live.hits_read(), 2U);
  EXPECT_EQ(live.read_on(20), Epoch(20));
  EXPECT_EQ(live.counts().by_name().at("hits_dropped_late"), 2U) << "data that come later for these epochs";
  EXPECT_EQ(live.read_on(21), Epoch(21)) << "the others are in time";
  EXPECT_EQ(live.hits_read(), 6U);
  EXPECT_EQ(live.counts().by_name().at("hits_dropped_late"), 2U);
}

TEST(FollowingAStream, NothingOfEpochsThatAreStillOpenIsClosed) {
  EncodedStream live(std::make_unique<BlockReader>(std::vector<Ticks>{{1000, 1210}, {}, {1220}}, kMayLack), {1},
                     LiveReading{.longest_wait = kAtOnce});
  live.read_on();
  EXPECT_EQ(live.read_on(11), Epoch(12)) << "the buffer of epoch 10 was closed, another epoch is open";
  live.read_on(12);
  EXPECT_EQ(live.hits_read(), 3U);
  EXPECT_EQ(live.counts().by_name().count("hits_dropped_late"), 0U);
}

TEST(FollowingAStream, WhatTheReaderHoldsBackIsWaitedFor) {
  auto owner = std::make_unique<BlockReader>(std::vector<Ticks>{{1000}, {}, {1300}, {}}, kMayLack);
  auto& reader = *owner;
  EncodedStream live(std::move(owner), {1}, LiveReading{.longest_wait = kAtOnce});
  reader.held = Tick(1300);
  EXPECT_EQ(live.read_on(20), Epoch(10));
  EXPECT_EQ(reader.releases, 1) << "and asked for";
  EXPECT_EQ(live.read_on(13), Epoch(13)) << "it belongs to a later epoch";
  EXPECT_EQ(reader.releases, 1);
  reader.held.reset();
  EXPECT_EQ(live.read_on(20), Epoch(20));
  EXPECT_EQ(live.hits_read(), 2U);
  EXPECT_EQ(live.counts().by_name().count("hits_dropped_late"), 0U);
}

TEST(FollowingAStream, HitsWaitInBoundedMemory) {
  auto live = stream_of(rising(50, 100), 1000, LiveReading{.longest_wait = kNever, .most_bytes = 1000});
  for (int block = 0; block < 20; ++block) live.read_on();
  EXPECT_GE(live.hits_read(), 1800U) << "except in the newest block or two, they wait no longer";
}

TEST(FollowingAStream, TimesThatNoEpochHasAreLeftOut) {
  const std::vector<Ticks> blocks = {{1000, std::numeric_limits<Tick>::max(), 2000}};
  auto live = stream_of(blocks, 1, LiveReading{kAtOnce});
  while (live.read_on()) {
  }
  EXPECT_EQ(live.counts().by_name().at("hits_dropped_untimed"), 1U);
  EXPECT_EQ(live.end_epoch(), Epoch(21));
  auto file = stream_of(blocks, 1, std::nullopt);
  EXPECT_THROW(bytes_of(file, {0, kNoEnd}), UserError);
}

TEST(BlockLosses, HitsAreTakenOutOfABlock) {
  HitBlock block;
  for (std::uint32_t i = 0; i < 6; ++i) {
    block.time.emplace_back(10 * i);
    block.channel.push_back(i);
    block.payload_begin.push_back(static_cast<std::uint32_t>(block.payload.size()));
    for (std::uint32_t w = 0; w <= i; ++w) block.payload.push_back(i);
  }
  block.losses = {{.before = 0, .hits = 7}, {.before = 3, .hits = 8, .leaves_hole = true}, {.before = 6, .hits = 9}};
  leave_out_hits(block, {false, true, true, false, false, true}, DropCause::late);
  EXPECT_EQ(block.time, (Ticks{0, 30, 40}));
  EXPECT_EQ(block.channel, (std::vector<std::uint32_t>{0, 3, 4}));
  EXPECT_EQ(block.payload_of(0).size(), 1U);
  EXPECT_EQ(block.payload_of(1).size(), 4U);
  EXPECT_EQ(block.payload_of(2)[4], 4U);
  ASSERT_EQ(block.losses.size(), 5U);
  const auto expect = [&](std::size_t i, std::size_t before, std::uint32_t hits, DropCause cause) {
    EXPECT_EQ(block.losses[i].before, before) << i;
    EXPECT_EQ(block.losses[i].hits, hits) << i;
    EXPECT_EQ(block.losses[i].cause, cause) << i;
  };
  expect(0, 0, 7, DropCause::corrupt);
  expect(1, 1, 2, DropCause::late);
  expect(2, 1, 8, DropCause::corrupt);
  expect(3, 3, 1, DropCause::late);
  expect(4, 3, 9, DropCause::corrupt);
}

}  // namespace
}  // namespace eventloom
