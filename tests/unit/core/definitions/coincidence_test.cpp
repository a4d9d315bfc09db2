#include "core/definitions/coincidence.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "found_events.hpp"

namespace eventloom::test {

namespace {

DetectorPtr two_groups() {
  auto detector = std::make_shared<Detector>(2);
  detector->add_group("A");
  detector->add_group("B");
  detector->change({0, 0, 9}, [](ChannelInfo& info) { info.groups = 1; });
  detector->change({1, 5, 9}, [](ChannelInfo& info) { info.groups = 2; });
  detector->change({1, 7, 7}, [](ChannelInfo& info) { info.groups = 3; });
  return detector;
}

EventDefinitionPtr coincidence(std::string_view text) { return parse_event_definition(text, 1000, two_groups()); }

/// The coincidences found in hits at `times`, which ascend.
std::vector<Times> coincidences(std::string_view definition, const Times& times,
                                const std::vector<std::uint32_t>& channels, const std::vector<std::uint16_t>& sources,
                                const std::vector<double>& values = {}) {
  const auto keys = keys_at(times);
  EventList events;
  events.restart(keys, {0, 0, 1000, 1000});
  coincidence(definition)->find({0, keys, channels, sources, values}, events);
  return times_of(events);
}

std::vector<Times> of_one_source(std::string_view definition, const Times& times) {
  return coincidences(definition, times, std::vector<std::uint32_t>(times.size()),
                      std::vector<std::uint16_t>(times.size()));
}

}  // namespace

TEST(Coincidence, IsParsedInTicksAndWithUnit) {
  EXPECT_EQ(coincidence("coincidence:50ns,A>=1 && B>=2")->text(), "coincidence:50,A>=1&&B>=2");
  EXPECT_EQ(coincidence(" coincidence : 50 , causal(0.3m/ns, 20ns) >= 2 , 1us, 2 ")->text(),
            coincidence("coincidence:50,causal(0.3,20)>=2,1000,2")->text());
  EXPECT_EQ(coincidence("coincidence:50,n_hits=2,0,0")->text(), "coincidence:50,n_hits==2");
  EXPECT_EQ(coincidence("coincidence:50,n_hits=2,0,3")->text(), "coincidence:50,n_hits==2,0,3");
}

TEST(Coincidence, LooksAsFarAsTheNextWindowReaches) {
  const auto definition = coincidence("coincidence:50,A>=1,7,9");
  const auto traits = definition->traits();
  EXPECT_EQ(traits.reach, Tick(116));
  EXPECT_EQ(traits.longest_length, Tick(50));
  EXPECT_EQ(coincidence("coincidence:50,A>=1,7,90")->traits().longest_length, Tick(90));
  EXPECT_TRUE(traits.needs_channels);
  EXPECT_TRUE(traits.uses(Quantity::Kind::group));
  EXPECT_FALSE(traits.uses(Quantity::Kind::causal));
  EXPECT_TRUE(traits.finds_runs);
  EXPECT_FALSE(coincidence("coincidence:50,n_hits>1")->traits().uses(Quantity::Kind::group));
  EXPECT_TRUE(coincidence("coincidence:50,causal(1,2)>1")->traits().uses(Quantity::Kind::causal));
  const auto longest = coincidence("coincidence:1e19,n_hits>1,1e19,1e19")->traits();
  EXPECT_EQ(longest.reach, std::numeric_limits<Tick>::max());
}

TEST(Coincidence, WindowsAreClosedAndJoinedWhereTheyShareATick) {
  EXPECT_EQ(of_one_source("coincidence:5,n_hits>=2", {10, 15, 21, 40, 46}), (std::vector<Times>{{10, 15}}));
  // The windows of 10 (to 15) and 15 (to 20) are accepted; they share 15.
  EXPECT_EQ(of_one_source("coincidence:5,n_hits>=2", {10, 15, 20, 30}), (std::vector<Times>{{10, 15, 20}}));
  // [10, 14] and [16, 20] share no tick, [10, 16] and [16, 22] do.
  EXPECT_EQ(of_one_source("coincidence:4,n_hits>=2", {10, 11, 16, 17}), (std::vector<Times>{{10, 11}, {16, 17}}));
  EXPECT_EQ(of_one_source("coincidence:6,n_hits>=2", {10, 11, 16, 17}), (std::vector<Times>{{10, 11, 16, 17}}));
}

TEST(Coincidence, EqualTimesOpenTheSameWindow) {
  EXPECT_EQ(of_one_source("coincidence:0,n_hits>=3", {5, 7, 7, 7, 9}), (std::vector<Times>{{7, 7, 7}}));
  EXPECT_EQ(of_one_source("coincidence:0,n_hits==2", {7, 7, 7}), std::vector<Times>());
}

TEST(Coincidence, IsWidened) {
  const Times times = {0, 10, 11, 14, 20, 30, 31};
  EXPECT_EQ(of_one_source("coincidence:1,n_hits>=2,10,3", times), (std::vector<Times>{{0, 10, 11, 14}, {20, 30, 31}}));
  // [10, 11] up to 15, [30, 31] from 16 on.
  EXPECT_EQ(of_one_source("coincidence:1,n_hits>=2,14,4", times), (std::vector<Times>{{0, 10, 11, 14}, {20, 30, 31}}));
  EXPECT_EQ(of_one_source("coincidence:1,n_hits>=2,15,4", times), (std::vector<Times>{times}));
}

TEST(Coincidence, CountsGroupsRangesSourcesAndSystems) {
  const Times times = {10, 11, 12, 13};
  const std::vector<std::uint32_t> channels = {3, 5, 7, 0x400000};
  const std::vector<std::uint16_t> sources = {0, 1, 1, 1};
  const auto found = [&](const std::string& condition) {
    return coincidences("coincidence:3," + condition, times, channels, sources) == std::vector<Times>{times};
  };
  EXPECT_TRUE(found("A==2&&B==2"));
  EXPECT_TRUE(found("channel:3-6==2&&channel:7==1&&source:1-2==3"));
  EXPECT_TRUE(found("systems==2&&sources==2&&n_hits==4"));
  EXPECT_TRUE(found("!(A>=3||B>=3)&&n_hits==4"));
  EXPECT_FALSE(found("A>=3"));
  EXPECT_FALSE(found("systems>=3"));
}

TEST(Coincidence, SelectsHitsByValue) {
  const Times times = {10, 11, 12, 13};
  const std::vector<std::uint32_t> channels = {3, 5, 7, 9};
  const std::vector<std::uint16_t> sources = {0, 1, 1, 1};
  const double none = std::numeric_limits<double>::quiet_NaN();
  const auto found = [&](const std::string& condition) {
    return coincidences("coincidence:3," + condition, times, channels, sources, {-1.5, 4, none, 6.5}) ==
           std::vector<Times>{times};
  };
  EXPECT_TRUE(found("A{-1.5..-1.5}==1&&B{4..6.5}==2&&n_hits==4"));
  EXPECT_FALSE(found("A{-1.4..9}==1&&n_hits==4"));
  EXPECT_TRUE(found("sum(B)==10.5&&sum(A)==-1.5&&n_hits==4"));
  EXPECT_TRUE(found("max(B)>=6.5&&max(A)<=-1.5&&n_hits==4"));
  EXPECT_FALSE(found("max(channel:7)>=-9&&n_hits==4")) << "no comparison with the largest of no values holds";
  EXPECT_FALSE(found("max(channel:7)<9&&n_hits==4"));
  EXPECT_TRUE(found("sum(channel:7)==0&&n_hits==4"));
  EXPECT_TRUE(found("channels(B)==3&&channels(source:0-1{0..9})==2&&n_hits==4"));
  EXPECT_TRUE(found("order(A,B)&&!order(channel:9,B)&&!order(A,channel:8)&&!order(channel:8,A)&&n_hits==4"));
}

TEST(Coincidence, WindowsOfTermsExtendTheEvent) {
  const Times times = {10, 95, 100, 180, 300};
  const std::vector<std::uint32_t> channels = {5, 1, 0, 5, 0};
  const std::vector<std::uint16_t> sources = {1, 0, 0, 1, 0};
  const auto found = [&](const std::string& definition) { return coincidences(definition, times, channels, sources); };
  // The windows of 95 are [95, 100] and [175, 195], those of 100 are [100, 105] and [180, 200].
  EXPECT_EQ(found("coincidence:5,channel:1>=1&&B[80,100]>=1"), (std::vector<Times>{{95, 100, 180}}));
  EXPECT_EQ(found("coincidence:5,channel:1>=1&&B[86,100]>=1"), std::vector<Times>());
  EXPECT_EQ(found("coincidence:5,channel:0>=1&&B[-90,-90]>=1"), (std::vector<Times>{{10, 95, 100}}));
  EXPECT_EQ(found("coincidence:5,channel:0>=1&&B[-100,100]==0&&A[0,0]>=1"), (std::vector<Times>{{300}}));
  EXPECT_EQ(found("coincidence:5,channel:0>=1&&B[-200,200]==0&&A[0,0]>=1"), std::vector<Times>());
}

TEST(Coincidence, LooksAsFarAsTheWindowsOfItsTerms) {
  const auto traits = coincidence("coincidence:50,A[-30,10]>=1&&B[20,120]>=1,7,9")->traits();
  EXPECT_EQ(traits.reach, Tick(2 * (30 + 120) + 7 + 9));
  EXPECT_EQ(traits.longest_length, Tick(120));
  EXPECT_EQ(coincidence("coincidence:50,A[-300,10]>=1")->traits().longest_length, Tick(300));
}

TEST(Coincidence, RefusesMoreCountsThanItHasRoomFor) {
  std::string condition = "channel:0>=1";
  for (int i = 1; i < 33; ++i) condition += "||channel:" + std::to_string(i) + ">=1";
  EXPECT_THROW(coincidence("coincidence:5," + condition), std::exception);
  EXPECT_NO_THROW(coincidence("coincidence:5," + condition.substr(0, condition.rfind("||"))));
}

}  // namespace eventloom::test
