#include "io/serve/hits_player.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/runtime/error.hpp"
#include "io/lmd/lmd_hits.hpp"

namespace eventloom {
namespace {

using Words = std::vector<std::uint32_t>;

struct GivenHit {
  Tick time;
  std::uint32_t channel;
  Words payload = {};
};

/// Returns hits in blocks, like a file.
class GivenHits final : public HitReader {
 public:
  GivenHits(std::vector<std::vector<GivenHit>> blocks, std::uint32_t flags, std::string text)
      : blocks_(std::move(blocks)), header_{0, {.tick_ps = 250, .epoch_ticks = 100}, {}, std::move(text)} {
    header_.flags = flags;
  }
  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  bool read(HitBlock& block) override {
    block.clear();
    if (next_ == blocks_.size()) return false;
    for (const auto& hit : blocks_[next_++]) {
      block.time.push_back(hit.time);
      block.channel.push_back(hit.channel);
      block.payload_begin.push_back(static_cast<std::uint32_t>(block.payload.size()));
      block.payload.insert(block.payload.end(), hit.payload.begin(), hit.payload.end());
    }
    if (block.size() == 0) block.losses.push_back({});
    return true;
  }

 private:
  std::vector<std::vector<GivenHit>> blocks_;
  StreamHeader header_;
  std::string name_ = "given";
  std::size_t next_ = 0;
};

HitsPlayer played(std::vector<std::vector<GivenHit>> blocks, std::uint32_t flags = 0, std::string text = {}) {
  return HitsPlayer(std::make_unique<GivenHits>(std::move(blocks), flags, std::move(text)));
}

/// Times and channels in the subevent for foreign hits, which holds them without payload.
std::vector<std::pair<Tick, std::uint32_t>> hits_of(const LmdEvent& event) {
  EXPECT_EQ(event.subevents.size(), 1U);
  const auto& list = event.subevents.front();
  EXPECT_EQ(list.procid, kHitListId);
  std::vector<std::pair<Tick, std::uint32_t>> hits;
  for (std::size_t at = 4; at < list.words(); at += 5 + list.word(at + 4))
    hits.emplace_back(list.word(at), list.word(at + 3));
  return hits;
}
using Hits = std::vector<std::pair<Tick, std::uint32_t>>;

TEST(HitsPlayer, AnEventPerEpochInTheOrderOfTime) {
  auto player = played({{{120, 1}, {110, 2, {7, 8}}}, {{110, 3}, {199, 4}, {200, 5}}, {{950, 6}}});
  EXPECT_TRUE(player.timed());
  ASSERT_TRUE(player.next());
  EXPECT_EQ(hits_of(player.event()), (Hits{{110, 2}, {110, 3}, {120, 1}, {199, 4}}));
  EXPECT_EQ(player.event().number, 1U);
  EXPECT_EQ(player.time(), Tick{27}) << "110 ticks of 250 ps";
  ASSERT_TRUE(player.next());
  EXPECT_EQ(hits_of(player.event()), (Hits{{200, 5}}));
  ASSERT_TRUE(player.next());
  EXPECT_EQ(hits_of(player.event()), (Hits{{950, 6}}));
  EXPECT_EQ(player.event().number, 3U);
  EXPECT_FALSE(player.next());
  EXPECT_FALSE(player.next());
}

TEST(HitsPlayer, AnEventPerNumberWhereTimesAreNumbers) {
  auto player = played({{{1, 1}, {1, 2}}, {{1, 3}, {3, 4}}}, kNumbered);
  EXPECT_FALSE(player.timed());
  ASSERT_TRUE(player.next());
  EXPECT_EQ(hits_of(player.event()), (Hits{{1, 1}, {1, 2}, {1, 3}}));
  EXPECT_EQ(player.time(), std::nullopt);
  ASSERT_TRUE(player.next());
  EXPECT_EQ(hits_of(player.event()), (Hits{{3, 4}}));
  EXPECT_FALSE(player.next());
}

TEST(HitsPlayer, StampedSubeventsOfOneTimeAreTheirEvent) {
  const Words payload = {6, 3 << 16, 55, 4, 1 << 16 | 10, 5, 99};
  auto player = played({{{10, 5, payload}, {10, 5, payload}, {11, 5, payload}}}, 0, std::string(lmd_hit_rule()));
  ASSERT_TRUE(player.next());
  EXPECT_EQ(player.event().number, 55U);
  EXPECT_EQ(player.event().trigger, 3U);
  ASSERT_EQ(player.event().subevents.size(), 2U);
  EXPECT_EQ(player.event().subevents[1].word(0), 99U);
  ASSERT_TRUE(player.next());
  EXPECT_EQ(player.event().subevents.size(), 1U);
  EXPECT_FALSE(player.next());
}

TEST(HitsPlayer, LossesAreDamagedPlaces) {
  auto player = played({{{1, 1}}, {}, {{2, 2}}, {}});
  while (player.next()) {
  }
  EXPECT_EQ(player.damaged_places(), 2U);
}

TEST(HitsPlayer, RefusesTimeSortedHitsOfARun) { EXPECT_THROW(played({}, kSorted), UserError); }

}  // namespace
}  // namespace eventloom
