#include "app/tools/bench/live_source.hpp"

#include <gtest/gtest.h>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr std::int64_t kMs = 1'000'000;

/// A source on a clock that the test sets: 25 hits every microsecond, in epochs of 10 us and slices of 100 us.
class LiveSourceTest : public testing::Test {
 protected:
  LiveSourceTest() {
    settings_.geometry = {.base = {1000, 10'000}, .epochs_per_slice = 10, .overlap = 1000, .reach = 25};
    settings_.timing = "static";
    settings_.hits_per_second = 25e6;
    settings_.duration_ns = kMs;
    settings_.since_start = [this] { return now_; };
  }

  static void make_all(LiveSource& source) {
    while (source.make() != 0) continue;
  }

  /// The number of hits that the headers of whole packets state.
  static std::uint64_t hits_in(const SliceData& data) {
    std::uint64_t hits = 0;
    for (const auto piece : data.pieces) hits += read_epoch_buffer_header(piece).value().n_hits;
    return hits;
  }

  SliceData collect(LiveSource& source, std::uint64_t slice) const {
    SliceData data;
    source.collect(settings_.geometry.sent_epochs({slice}), data);
    return data;
  }

  std::int64_t now_ = 0;
  LiveSettings settings_;
};

TEST_F(LiveSourceTest, MakesNothingBeforeTheStart) {
  LiveSource source(settings_);
  now_ = -5 * kMs;
  EXPECT_EQ(source.make(), 0U);
  EXPECT_FALSE(source.ready({0}));
}

TEST_F(LiveSourceTest, MakesWhatIsDueAndNoMore) {
  LiveSource source(settings_);
  now_ = 10'500;
  EXPECT_EQ(source.make(), 11U * 25);
  EXPECT_EQ(source.make(), 0U);
}

TEST_F(LiveSourceTest, ASliceIsReadyWhenItsMarginIsMade) {
  LiveSource source(settings_);
  now_ = 109'999;
  make_all(source);
  EXPECT_FALSE(source.ready({0}));
  now_ = 110'000;
  make_all(source);
  EXPECT_TRUE(source.ready({0}));
  EXPECT_FALSE(source.ready({1}));
}

TEST_F(LiveSourceTest, ASliceCarriesItselfAndItsMarginOnly) {
  LiveSource source(settings_);
  now_ = kMs;
  make_all(source);
  EXPECT_EQ(hits_in(collect(source, 0)), 110U * 25);
  EXPECT_EQ(hits_in(collect(source, 1)), 120U * 25);
}

TEST_F(LiveSourceTest, FullAndOldPacketsAreClosedAtTheEndOfAnEpoch) {
  settings_.packet = 500;
  LiveSource full(settings_);
  settings_.packet = 1'000'000;
  settings_.flush_after = 15'000;
  LiveSource old(settings_);
  now_ = kMs;
  make_all(full);
  make_all(old);
  // A slice is sent as one epoch, four times two, and one epoch.
  EXPECT_EQ(collect(full, 0).pieces.size(), 1U + 4 + 1 + 1);
  EXPECT_EQ(collect(old, 0).pieces.size(), 1U + 4 + 1 + 1);
}

TEST_F(LiveSourceTest, LatePacketsAreDroppedWholeAndReported) {
  settings_.limit_ns = kMs / 2;
  LiveSource source(settings_);
  now_ = kMs;
  make_all(source);
  const auto data = collect(source, 0);
  EXPECT_TRUE(data.pieces.empty());
  std::uint64_t reported = 0;
  for (const auto& damage : data.damage) reported += damage.n_hits;
  EXPECT_EQ(reported, 110U * 25);
  EXPECT_EQ(source.count().dropped, reported);
  EXPECT_EQ(source.count().sent, 0U);
}

TEST_F(LiveSourceTest, WhatWasSentOnceIsSentAgainHoweverLate) {
  settings_.limit_ns = kMs / 2;
  LiveSource source(settings_);
  now_ = 110'000;
  make_all(source);
  EXPECT_EQ(hits_in(collect(source, 0)), 110U * 25);
  now_ = kMs;
  make_all(source);
  EXPECT_EQ(hits_in(collect(source, 1)), 20U * 25);  // hits of the margins
}

TEST_F(LiveSourceTest, KeepsLatePacketsOnRequest) {
  settings_.limit_ns = kMs / 2;
  settings_.drop_late = false;
  LiveSource source(settings_);
  now_ = kMs;
  make_all(source);
  EXPECT_EQ(hits_in(collect(source, 0)), 110U * 25);
  EXPECT_EQ(source.count().late, 110U * 25);
  EXPECT_EQ(source.count().dropped, 0U);
}

TEST_F(LiveSourceTest, MadeIsSentAndDropped) {
  for (const char* timing : {"static", "gaussian", "poisson", "burst"}) {
    settings_.timing = timing;
    settings_.limit_ns = kMs / 2;
    now_ = 0;
    LiveSource source(settings_);
    for (now_ = 0; !source.finished(); now_ += 1000) source.make();
    for (std::uint64_t s = 0; s < 10; ++s) {
      ASSERT_TRUE(source.ready({s}));
      collect(source, s);
    }
    const auto& count = source.count();
    EXPECT_GT(count.sent, 0U) << timing;
    EXPECT_GT(count.dropped, 0U) << timing;
    EXPECT_EQ(count.made, count.sent + count.dropped) << timing;
    EXPECT_EQ(count.missed, 0U) << timing;
    EXPECT_LE(source.end_epoch().value(), Epoch(100)) << timing;
  }
}

TEST_F(LiveSourceTest, HitsThatAreFarBehindAreMissed) {
  settings_.duration_ns = 100 * kMs;
  LiveSource source(settings_);
  now_ = 50 * kMs;
  make_all(source);
  EXPECT_EQ(source.count().missed, 30'000U * 25);
  EXPECT_EQ(source.count().made, 20'000U * 25);
}

TEST_F(LiveSourceTest, ForgetsWhatIsNotNeeded) {
  LiveSource source(settings_);
  now_ = kMs;
  make_all(source);
  source.release_before(settings_.geometry.sent_epochs({1}).begin);
  EXPECT_EQ(hits_in(collect(source, 0)), 20U * 25);
  EXPECT_EQ(hits_in(collect(source, 1)), 120U * 25);
}

TEST_F(LiveSourceTest, RefusesATimingThatIsNone) {
  settings_.timing = "sometimes";
  EXPECT_THROW(LiveSource{settings_}, UserError);
}

}  // namespace

}  // namespace eventloom
