#include "io/recorded/loss_account.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <ostream>
#include <tuple>
#include <vector>

namespace eventloom {

bool operator==(const Damage& a, const Damage& b) {
  return std::tie(a.first_epoch, a.n_epochs, a.file_offset, a.n_hits, a.cause) ==
         std::tie(b.first_epoch, b.n_epochs, b.file_offset, b.n_hits, b.cause);
}

void PrintTo(const Damage& d, std::ostream* out) {
  *out << d.n_epochs.value << " epochs from " << d.first_epoch.value << ", offset " << d.file_offset << ", " << d.n_hits
       << " hits " << kDropCauseNames[static_cast<std::size_t>(d.cause)];
}

namespace {

constexpr Epoch kMost = std::numeric_limits<Epoch>::max();
constexpr EpochRange kAll{0, kMost};

/// Epochs of 100 ticks.
StreamHeader header_of(std::uint32_t flags = 0) {
  StreamHeader header;
  header.base = {1000, 100};
  header.flags = flags;
  return header;
}

HitBlock block_of(std::vector<Tick> times, std::vector<Loss> losses = {}) {
  HitBlock block;
  block.channel.assign(times.size(), 0);
  block.time = std::move(times);
  block.losses = std::move(losses);
  return block;
}

std::vector<Damage> collected(const LossAccount& account, EpochRange epochs = kAll) {
  std::vector<Damage> out;
  account.collect(epochs, out);
  return out;
}

/// All damage of a stream with these blocks.
std::vector<Damage> damage_of(const std::vector<HitBlock>& blocks, std::uint32_t flags = 0) {
  LossAccount account(header_of(flags));
  for (const auto& block : blocks) account.take(block);
  account.finish();
  return collected(account);
}

using List = std::vector<Damage>;

TEST(LossAccount, ALossLiesWhereTheHitBeforeItLies) {
  const Loss loss{.before = 1, .offset = 77, .hits = 5, .cause = DropCause::duplicate};
  EXPECT_EQ(damage_of({block_of({350, 980}, {loss})}), (List{{3, 0, 77, 5, DropCause::duplicate}}));
  const Loss last{.before = 2, .offset = 77, .hits = 5, .cause = DropCause::duplicate};
  EXPECT_EQ(damage_of({block_of({350, 980}, {last})}), (List{{9, 0, 77, 5, DropCause::duplicate}}));
}

TEST(LossAccount, AHoleExtendsToTheNextHit) {
  const Loss hole{.before = 1, .offset = 8, .hits = 2, .leaves_hole = true};
  EXPECT_EQ(damage_of({block_of({350, 980}, {hole})}), (List{{3, 7, 8, 2}}));
  EXPECT_EQ(damage_of({block_of({350, 399}, {hole})}), (List{{3, 1, 8, 2}}));
  EXPECT_EQ(damage_of({block_of({350, 400}, {hole})}), (List{{3, 2, 8, 2}}));
  EXPECT_EQ(damage_of({block_of({350}, {hole})}), (List{{3, kMost - 3, 8, 2}})) << "no hit follows it";
}

TEST(LossAccount, ALossWaitsForTheNextHitInALaterBlock) {
  LossAccount account(header_of());
  account.take(block_of({350}, {{.before = 1, .offset = 8, .leaves_hole = true}}));
  account.take(block_of({}, {{.before = 0, .offset = 9, .hits = 4}}));
  account.take(block_of({}));
  EXPECT_TRUE(collected(account).empty());
  account.take(block_of({720}));
  EXPECT_EQ(collected(account), (List{{3, 5, 8, 0}, {3, 0, 9, 4}}));
}

TEST(LossAccount, BeforeTheFirstHitALossLiesAtTheHit) {
  const Loss plain{.before = 0, .offset = 1, .hits = 3};
  const Loss hole{.before = 0, .offset = 2, .leaves_hole = true};
  EXPECT_EQ(damage_of({block_of({}, {plain}), block_of({1250, 1900}, {hole})}),
            (List{{0, 12, 0, 0}, {12, 0, 1, 3}, {12, 1, 2, 0}}));
}

TEST(LossAccount, WhatWasBeforeAStreamThatIsJoinedIsNotLost) {
  LossAccount account(header_of(), true);
  account.take(block_of({1250}, {{.before = 0, .offset = 2, .leaves_hole = true}}));
  EXPECT_EQ(collected(account), (List{{12, 1, 2, 0}}));
}

TEST(LossAccount, LossesOfABlockLieBetweenItsHits) {
  const auto damage =
      damage_of({block_of({100, 200, 300, 400}, {{.before = 0, .offset = 1, .hits = 1},
                                                 {.before = 2, .offset = 2, .hits = 1},
                                                 {.before = 2, .offset = 3, .hits = 1, .leaves_hole = true},
                                                 {.before = 4, .offset = 4, .hits = 1}})});
  EXPECT_EQ(damage, (List{{1, 0, 1, 1}, {2, 0, 2, 1}, {2, 2, 3, 1}, {4, 0, 4, 1}}));
}

TEST(LossAccount, AHitThatComesLateMovesNoLossBack) {
  // 900 is the latest hit before each of the losses, wherever in the block it stands.
  for (const auto& times : {std::vector<Tick>{900, 250, 260, 950}, {250, 900, 260, 950}}) {
    EXPECT_EQ(damage_of({block_of(times, {{.before = 3, .offset = 5, .hits = 1, .leaves_hole = true}})}),
              (List{{9, 1, 5, 1}}));
    EXPECT_EQ(damage_of({block_of(times), block_of({200}, {{.before = 0, .offset = 5, .leaves_hole = true}})}),
              (List{{9, 1, 5, 0}}));
  }
}

TEST(LossAccount, NumberedStreamsHaveNoHoles) {
  const auto damage = damage_of({block_of({350, 980}, {{.before = 1, .offset = 1, .hits = 2, .leaves_hole = true},
                                                       {.before = 2, .offset = 2, .breaks_off = true}})},
                                kNumbered);
  EXPECT_EQ(damage, (List{{3, 0, 1, 2}, {9, 0, 2, 0}}));
}

TEST(LossAccount, WhereTheFileBreaksOffDamageHasNoEnd) {
  LossAccount account(header_of());
  account.take(block_of({350}, {{.before = 1, .offset = 9, .hits = 6, .breaks_off = true}}));
  EXPECT_FALSE(account.tail());
  account.finish();
  ASSERT_TRUE(account.tail());
  EXPECT_EQ(collected(account), (List{*account.tail()}));
  EXPECT_EQ(account.tail()->first_epoch, Epoch(3));
  EXPECT_EQ(account.tail()->n_hits, 6U);
  EXPECT_GE(account.tail()->first_epoch + account.tail()->n_epochs, kMost - 1) << "and no overflow";
  EXPECT_EQ(collected(account, {Epoch(std::uint64_t{1} << 60), (Epoch(std::uint64_t{1} << 60)) + 1}).size(), 1U);
}

TEST(LossAccount, OtherLossesAtTheEndAreNotTakenForItsBreak) {
  LossAccount account(header_of());
  account.take(block_of({350}, {{.before = 1, .offset = 1, .hits = 1, .cause = DropCause::duplicate},
                                {.before = 1, .offset = 2, .hits = 2, .breaks_off = true},
                                {.before = 1, .offset = 3, .hits = 3, .cause = DropCause::duplicate},
                                {.before = 1, .offset = 4, .hits = 4, .breaks_off = true},
                                {.before = 1, .offset = 5, .hits = 5, .cause = DropCause::untimed}}));
  account.finish();
  ASSERT_TRUE(account.tail());
  EXPECT_EQ(account.tail()->cause, DropCause::corrupt);
  EXPECT_GT(account.tail()->n_epochs, Epoch(std::uint64_t{1} << 60));
  const auto damage = collected(account, {Epoch(std::uint64_t{1} << 60), (Epoch(std::uint64_t{1} << 60)) + 1});
  for (const auto& d : damage) EXPECT_EQ(d.cause, DropCause::corrupt) << "the others do not continue";
}

TEST(LossAccount, OnlyTheEndBreaksOff) {
  LossAccount account(header_of());
  account.take(block_of({350, 980}, {{.before = 1, .offset = 9, .hits = 6, .breaks_off = true}}));
  account.take(block_of({}, {{.before = 0, .offset = 10, .hits = 1}}));
  account.finish();
  EXPECT_FALSE(account.tail());
  EXPECT_EQ(collected(account), (List{{3, 7, 9, 6}, {9, 0, 10, 1}}));
  LossAccount numbered(header_of(kNumbered));
  numbered.take(block_of({350}, {{.before = 1, .offset = 9, .hits = 6, .breaks_off = true}}));
  numbered.finish();
  EXPECT_FALSE(numbered.tail()) << "missing events show in the numbers";
}

TEST(LossAccount, AStreamOfLossesAloneHasThemInItsFirstEpoch) {
  EXPECT_EQ(damage_of({block_of({}, {{.before = 0, .offset = 3, .hits = 7}})}), (List{{0, 0, 3, 7}}));
  LossAccount account(header_of());
  account.take(block_of({}, {{.before = 0, .offset = 3, .breaks_off = true}}));
  account.finish();
  ASSERT_TRUE(account.tail());
  EXPECT_EQ(account.tail()->first_epoch, Epoch(0));
}

TEST(LossAccount, CountsByCause) {
  LossAccount account(header_of());
  EXPECT_FALSE(account.any());
  account.take(block_of({100}, {{.before = 0, .hits = 3, .cause = DropCause::untimed},
                                {.before = 0, .hits = 0, .cause = DropCause::corrupt},
                                {.before = 1, .hits = 4, .cause = DropCause::untimed}}));
  account.take(block_of({}, {{.before = 0, .hits = 5, .cause = DropCause::out_of_step}}));
  EXPECT_TRUE(account.any());
  EXPECT_EQ(account.hits(), 12U);
  EXPECT_EQ(account.without_hits(), 1U);
  EXPECT_EQ(account.counters().by_name(), (CountsByName{{"hits_dropped_out_of_step", 5}, {"hits_dropped_untimed", 7}}));
}

TEST(LossAccount, LikeLossesOfAnEpochAreOneRecord) {
  std::vector<HitBlock> blocks;
  for (Tick t = 300; t < 399; ++t) blocks.push_back(block_of({t}, {{.before = 1, .offset = t.value, .hits = 2}}));
  blocks.push_back(block_of({400}));
  EXPECT_EQ(damage_of(blocks), (List{{3, 0, 300, 2 * 99}}));
}

/// Losses of different kinds alternate: a short file may hold very many.
TEST(LossAccount, LossesOfSeveralKindsInAnEpochAreARecordOfEachKind) {
  HitBlock block = block_of({350, 450});
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const auto cause = static_cast<DropCause>(i % kDropCauses);
    block.losses.push_back({.before = 1, .offset = i, .hits = 1, .cause = cause, .leaves_hole = i % 2 == 0});
  }
  const auto damage = damage_of({block});
  std::uint64_t lost = 0;
  for (const auto& d : damage) lost += d.n_hits;
  EXPECT_EQ(lost, 3000U);
  EXPECT_LE(damage.size(), 2 * kDropCauses);
}

TEST(LossAccount, RecordsHoldNoMoreHitsThanTheirCountCan) {
  constexpr std::uint32_t kHits = 3'000'000'000U;
  const auto damage = damage_of({block_of({350}, {{.before = 1, .offset = 1, .hits = kHits},
                                                  {.before = 1, .offset = 2, .hits = kHits},
                                                  {.before = 1, .offset = 3, .hits = 1}})});
  std::uint64_t lost = 0;
  for (const auto& d : damage) lost += d.n_hits;
  EXPECT_EQ(lost, 2 * std::uint64_t{kHits} + 1);
  LossAccount account(header_of());
  account.take(block_of({350}, {{.before = 1, .hits = kHits}, {.before = 1, .hits = kHits}}));
  EXPECT_EQ(account.hits(), 2 * std::uint64_t{kHits});
}

TEST(LossAccount, GivesWhatTouchesTheEpochs) {
  LossAccount account(header_of());
  account.take(block_of({350, 980, 1200}, {{.before = 1, .offset = 1, .leaves_hole = true},
                                           {.before = 2, .offset = 2, .hits = 1},
                                           {.before = 3, .offset = 3, .hits = 1}}));
  account.finish();
  const Damage hole{3, 7, 1, 0};
  const Damage point{9, 0, 2, 1};
  const Damage last{12, 0, 3, 1};
  EXPECT_EQ(collected(account, {0, 3}), List{});
  EXPECT_EQ(collected(account, {0, 4}), List{hole});
  EXPECT_EQ(collected(account, {5, 6}), List{hole});
  EXPECT_EQ(collected(account, {9, 10}), (List{hole, point}));
  EXPECT_EQ(collected(account, {10, 12}), List{});
  EXPECT_EQ(collected(account, {10, 13}), List{last});
  account.release_before(9);
  EXPECT_EQ(collected(account, {9, 13}), (List{hole, point, last}));
  account.release_before(10);
  EXPECT_EQ(collected(account), (List{last}));
  account.release_before(kMost);
  EXPECT_EQ(collected(account), List{});
}

TEST(HitBlock, PayloadOfEachHit) {
  HitBlock uniform;
  uniform.time = {1, 2, 3};
  uniform.channel = {1, 2, 3};
  uniform.payload = {10, 11, 20, 21, 30, 31};
  EXPECT_TRUE(std::ranges::equal(uniform.payload_of(0), std::vector{10, 11}));
  EXPECT_TRUE(std::ranges::equal(uniform.payload_of(2), std::vector{30, 31}));
  HitBlock varying = uniform;
  varying.payload = {0, 1, 20, 2, 30, 31};
  varying.payload_begin = {0, 1, 3};
  EXPECT_TRUE(std::ranges::equal(varying.payload_of(0), std::vector{0}));
  EXPECT_TRUE(std::ranges::equal(varying.payload_of(1), std::vector{1, 20}));
  EXPECT_TRUE(std::ranges::equal(varying.payload_of(2), std::vector{2, 30, 31}));
  HitBlock bare = uniform;
  bare.payload.clear();
  EXPECT_TRUE(bare.payload_of(1).empty());
}

TEST(HitBlock, TruncateKeepsTheFirstHits) {
  HitBlock uniform;
  uniform.time = {1, 2, 3};
  uniform.channel = {4, 5, 6};
  uniform.payload = {10, 11, 20, 21, 30, 31};
  HitBlock varying = uniform;
  varying.payload_begin = {0, 1, 3};
  uniform.losses = varying.losses = {{.before = 0, .offset = 8}};
  for (auto* block : {&uniform, &varying}) {
    block->truncate(3);
    block->truncate(9);
    EXPECT_EQ(block->size(), 3U);
    EXPECT_EQ(block->payload.size(), 6U);
    block->truncate(2);
    EXPECT_EQ(block->time, (std::vector<Tick>{1, 2}));
    EXPECT_EQ(block->channel, (std::vector<std::uint32_t>{4, 5}));
    EXPECT_EQ(block->losses.size(), 1U);
  }
  EXPECT_EQ(uniform.payload, (std::vector<std::uint32_t>{10, 11, 20, 21}));
  EXPECT_EQ(varying.payload, (std::vector<std::uint32_t>{10, 11, 20}));
  EXPECT_TRUE(std::ranges::equal(varying.payload_of(1), std::vector{11, 20}));
  for (auto* block : {&uniform, &varying}) {
    block->truncate(0);
    EXPECT_EQ(block->size(), 0U);
    EXPECT_TRUE(block->payload.empty() && block->channel.empty() && block->payload_begin.empty());
    EXPECT_EQ(block->losses.size(), 1U);
    block->clear();
    EXPECT_TRUE(block->losses.empty());
  }
}

/// `before` of a loss without later hits is the number of hits.
TEST(HitBlock, TruncateLeavesLossesAtHitsThatAreThere) {
  HitBlock block = block_of({1, 2, 3}, {{.before = 1}, {.before = 2}, {.before = 3}});
  block.truncate(2);
  std::vector<std::size_t> before;
  for (const auto& loss : block.losses) before.push_back(loss.before);
  EXPECT_EQ(before, (std::vector<std::size_t>{1, 2, 2}));
}

}  // namespace
}  // namespace eventloom
