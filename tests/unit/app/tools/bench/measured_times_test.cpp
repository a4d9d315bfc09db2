#include "app/tools/bench/measured_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "app/tools/bench/machine_load.hpp"

namespace eventloom {

namespace {

std::vector<std::int64_t> times_of_a_network(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> times(7, 1.5);
  std::vector<std::int64_t> all(n);
  std::ranges::generate(all, [&] { return std::llround(times(random)); });
  return all;
}

MeasuredTimes measured(const std::vector<std::int64_t>& times, TimesKept kept) {
  MeasuredTimes measured(kept);
  for (const auto ns : times) measured.add(ns);
  return measured;
}

}  // namespace

TEST(MeasuredTimes, BinsSumToTheCountAndTheShareIsExact) {
  auto times = times_of_a_network(20'000, 3);
  times.insert(times.end(), {1000, 1000, 1000});  // equal to the limit is not above it
  const auto json = measured(times, {.limit_ns = 1000, .each = false}).to_json();
  std::uint64_t sum = 0;
  for (const auto& bin : json.at("bins")) sum += bin.at(2).get<std::uint64_t>();
  EXPECT_EQ(sum, times.size());
  const auto above = std::ranges::count_if(times, [](std::int64_t ns) { return ns > 1000; });
  EXPECT_EQ(json.at("above_limit"), above);
  EXPECT_DOUBLE_EQ(json.at("share_above_limit"), static_cast<double>(above) / static_cast<double>(times.size()));
  EXPECT_EQ(json.at("limit_ns"), 1000);
}

TEST(MeasuredTimes, KeepsNoMoreThanIsWanted) {
  const auto times = times_of_a_network(100, 4);
  EXPECT_TRUE(measured(times, {}).each().empty());
  EXPECT_FALSE(measured(times, {}).to_json().contains("share_above_limit"));
  EXPECT_EQ(measured(times, {.limit_ns = {}, .each = true}).each(), times);
  EXPECT_TRUE(MeasuredTimes({.limit_ns = 5, .each = false}).to_json().at("share_above_limit").is_null());
}

TEST(MeasuredTimes, TogetherAndFromAnotherRankTheyAreTheSame) {
  const TimesKept kept{.limit_ns = 2000, .each = true};
  const auto times = times_of_a_network(3000, 5);
  const std::vector head(times.begin(), times.begin() + 1000);
  const std::vector tail(times.begin() + 1000, times.end());
  auto added = measured(head, kept);
  added.add(measured(tail, kept));
  auto unpacked = measured(head, kept);
  unpacked.unpack(Json::from_msgpack(measured(tail, kept).packed().to_msgpack()));
  const auto all = measured(times, kept);
  for (const auto* other : {&added, &unpacked}) {
    EXPECT_EQ(other->each(), times);
    EXPECT_EQ(other->above_limit(), all.above_limit());
    EXPECT_EQ(other->to_json().at("bins"), all.to_json().at("bins"));
  }
}

TEST(MeasuredTimes, HistogramComesBackFromTheReport) {
  const auto times = measured(times_of_a_network(5000, 6), {});
  const auto back = histogram_of(Json::parse(times.to_json().dump()));
  EXPECT_EQ(back.count(), 5000U);
  for (const double p : {1.0, 50.0, 99.0, 99.99}) EXPECT_EQ(back.percentile(p), times.histogram().percentile(p)) << p;
}

TEST(MachineLoad, WarningNamesTheLoadedHosts) {
  const Json idle = {{"host", "quiet"}, {"others_cores", 0.02}, {"stolen_cores", 0.0}, {"loaded", false}};
  const Json busy = {{"host", "farm7"}, {"others_cores", 1.5}, {"stolen_cores", 0.25}, {"loaded", true}};
  EXPECT_EQ(load_warning({{"loaded", false}, {"hosts", {idle}}}), "");
  const auto text = load_warning({{"loaded", true}, {"hosts", {idle, busy}}});
  EXPECT_NE(text.find("cannot be trusted"), std::string::npos);
  EXPECT_NE(text.find("on farm7 other processes used 1.50 cores and the hypervisor 0.25"), std::string::npos);
  EXPECT_EQ(text.find("quiet"), std::string::npos);
}

}  // namespace eventloom
