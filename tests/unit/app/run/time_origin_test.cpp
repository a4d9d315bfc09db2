#include "app/run/time_origin.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/runtime/error.hpp"
#include "formats/utc_time.hpp"

namespace eventloom::test {

constexpr std::int64_t kTaiZero = -37'000'000'000;  ///< Unix time, with the leap seconds of today

SourceInfo board(const std::string& name, std::int64_t started_ns) {
  SourceInfo info;
  info.name = name;
  info.started_ns = started_ns;
  return info;
}

/// A source whose data begin at `first_ns`.
SourceInfo stamped(const std::string& name, std::int64_t first_ns) {
  SourceInfo info;
  info.name = name;
  info.counts_tai = true;
  info.base = {1000, 10'000};
  info.first_epoch = static_cast<Epoch>(first_ns) / 10'000;
  return info;
}

TEST(TimeOrigin, IsUnknownUnlessStated) {
  const auto origin = find_time_origin("", {SourceInfo(), SourceInfo()});
  EXPECT_EQ(origin.time_of_tick_0, "");
  EXPECT_TRUE(origin.contradictions.empty());
}

TEST(TimeOrigin, IsThatOfTheFirstSourceThatKnows) {
  const auto now = parse_unix_ns("2026-11-21T10:00:00Z");
  EXPECT_EQ(find_time_origin("", {SourceInfo(), board("a", now)}).time_of_tick_0, "2026-11-21T10:00:00Z");
  EXPECT_EQ(find_time_origin("", {stamped("wr", now)}).time_of_tick_0, utc_text(kTaiZero));
  EXPECT_EQ(find_time_origin("", {stamped("old", parse_unix_ns("2013-01-01T00:00:00Z"))}).time_of_tick_0,
            utc_text(kTaiZero + 2'000'000'000));
}

TEST(TimeOrigin, TablesStateItByTheirOrigin) {
  SourceInfo table;
  table.name = "u1.csv";
  table.origin_ns = 0;
  auto later = table;
  later.origin_ns = 60'000'000'000;
  const auto origin = find_time_origin("", {SourceInfo(), table, later});
  EXPECT_EQ(origin.time_of_tick_0, "1970-01-01T00:00:00Z");
  ASSERT_EQ(origin.contradictions.size(), 1U);
  EXPECT_NE(origin.contradictions[0].find("by the origin= of 'u1.csv', +60 s"), std::string::npos);
}

TEST(TimeOrigin, ContradictionsOfMoreThanAMillisecondAreReported) {
  const auto now = parse_unix_ns("2026-11-21T10:00:00Z");
  EXPECT_TRUE(find_time_origin("", {board("a", now), board("b", now + 999'999)}).contradictions.empty());
  const auto origin = find_time_origin("", {board("a", now), board("b", now + 2'000'000), board("c", now - 5'000'000)});
  EXPECT_EQ(origin.time_of_tick_0, "2026-11-21T10:00:00Z");
  ASSERT_EQ(origin.contradictions.size(), 2U);
  EXPECT_EQ(
      origin.contradictions[0],
      "tick 0 is at 2026-11-21T10:00:00Z by 'a', but at 2026-11-21T10:00:00.002000000Z by 'b', +0.002 s: the former "
      "is kept");
  EXPECT_EQ(origin.contradictions[1], "1 more sources contradict 'a' likewise");
}

TEST(TimeOrigin, WhatIsGivenCounts) {
  const auto origin = find_time_origin("1970-01-01T00:00:00Z", {stamped("wr", parse_unix_ns("2026-11-21T10:00:00Z"))});
  EXPECT_EQ(origin.time_of_tick_0, "1970-01-01T00:00:00Z");
  ASSERT_EQ(origin.contradictions.size(), 1U);
  EXPECT_NE(origin.contradictions[0].find("the White Rabbit stamps of 'wr', -37 s"), std::string::npos);
  EXPECT_TRUE(find_time_origin(utc_text(kTaiZero), {stamped("wr", 0)}).contradictions.empty());
}

/// The times that a board states are not trusted.
TEST(TimeOrigin, ExtremesAreReported) {
  for (const auto stated : {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(find_time_origin("2026-11-21T10:00:00Z", {board("a", stated)}).contradictions.size(), 1U);
  }
}

TEST(TimeOrigin, EventNumbersHaveNone) {
  SourceInfo numbered;
  numbered.flags = kNumbered;
  EXPECT_THROW(find_time_origin("2026-11-21T10:00:00Z", {numbered}), UserError);
  EXPECT_EQ(find_time_origin("", {numbered}).time_of_tick_0, "");
}

}  // namespace eventloom::test
