#include "formats/utc_time.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>

namespace eventloom::test {

constexpr std::int64_t kNov21 = 1'795'255'200;  // date -u -d 2026-11-21T10:00:00Z +%s

void expect_time(const char* text, std::int64_t seconds, std::uint64_t attoseconds) {
  const auto time = parse_utc(text);
  ASSERT_TRUE(time) << text;
  EXPECT_EQ(time->seconds, seconds) << text;
  EXPECT_EQ(time->attoseconds, attoseconds) << text;
}

TEST(UtcTime, IsReadInAllItsForms) {
  for (const char* text : {"2026-11-21T10:00:00Z", "2026-11-21 10:00:00", "2026-11-21t10:00:00z",
                           "2026-11-21T11:00:00+01:00", "2026-11-21T04:30:00-0530", "2026-11-21T12:00:00.0+02"}) {
    expect_time(text, kNov21, 0);
  }
  expect_time("1970-01-01T00:00:00Z", 0, 0);
  expect_time("1969-12-31T23:59:59.5Z", -1, 500'000'000'000'000'000);
  EXPECT_EQ(parse_utc("2028-02-29T00:00:00Z")->seconds, 1'835'395'200);
}

TEST(UtcTime, KeepsEighteenDigits) {
  expect_time("2026-11-21T10:00:00.123456789Z", kNov21, 123'456'789'000'000'000);
  expect_time("2026-11-21T10:00:00,000000000000000001Z", kNov21, 1);
}

TEST(UtcTime, IsNothingElse) {
  for (const char* text :
       {"", "2026", "12", "2026-11-21", "2026-11-21T10:00Z", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z",
        "2026-11-21T24:00:00Z", "2026-11-21T10:60:00Z", "2026-11-21T10:00:60Z", "2026-11-21T10:00:00.Z",
        "2026-11-21T10:00:00ZZ", "2026-11-21T10:00:00+1:00", "2026-11-21T10:00:00+24:00", "2026/11/21T10:00:00Z",
        "2026-11-21T10:00:00.1234567890123456789Z", "-026-11-21T10:00:00Z"}) {
    EXPECT_FALSE(parse_utc(text)) << text;
  }
}

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(UnixTime, IsParsedToTheNanosecond) {
  EXPECT_EQ(parse_unix_ns("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(parse_unix_ns("2026-11-21T10:00:00Z"), 1'795'255'200 * kSecond);
  EXPECT_EQ(parse_unix_ns("2026-11-21T10:00:00.5Z"), 1'795'255'200 * kSecond + 500'000'000);
  EXPECT_EQ(parse_unix_ns("2026-11-21T10:00:00.000000001Z"), 1'795'255'200 * kSecond + 1);
  EXPECT_EQ(parse_unix_ns("2026-11-21T11:30:00+01:30"), 1'795'255'200 * kSecond);
  EXPECT_EQ(parse_unix_ns("2026-11-21T00:00:00-10:00"), 1'795'255'200 * kSecond);
  EXPECT_EQ(parse_unix_ns("1969-12-31T23:59:59.999999999Z"), -1);
  EXPECT_EQ(parse_unix_ns("2024-02-29T00:00:00Z"), 1'709'164'800 * kSecond);
  EXPECT_EQ(parse_unix_ns("2262-04-11T23:47:16.854775807Z"), std::numeric_limits<std::int64_t>::max());
}

TEST(UnixTime, OtherTextsAreRefused) {
  for (const char* text : {"",
                           "2026",
                           "2026-11-21",
                           "2026-11-21T10:00:00",
                           "2026-11-21T10:00Z",
                           "2026-1-21T10:00:00Z",
                           "2026-02-29T10:00:00Z",
                           "2026-13-01T10:00:00Z",
                           "2026-00-01T10:00:00Z",
                           "2026-11-21T24:00:00Z",
                           "2026-11-21T10:60:00Z",
                           "2026-11-21T23:59:60Z",
                           "2026-11-21T10:00:00.Z",
                           "2026-11-21T10:00:00.0000000001Z",
                           "2026-11-21T10:00:00+1:00",
                           "2026-11-21T10:00:00+24:00",
                           "2026-11-21T10:00:00Zulu",
                           "2026-11-21T10:00:00Z ",
                           " 2026-11-21T10:00:00Z",
                           "-026-11-21T10:00:00Z",
                           "2262-04-11T23:47:16.854775808Z",
                           "1600-01-01T00:00:00Z",
                           "9999-12-31T23:59:59Z"}) {
    try {
      parse_unix_ns(text);
      ADD_FAILURE() << "taken: '" << text << "'";
    } catch (const std::invalid_argument& e) {
      EXPECT_NE(std::string(e.what()).find("'" + std::string(text) + "'"), std::string::npos) << e.what();
    }
  }
}

TEST(UtcTime, TextIsWhatIsParsed) {
  for (const char* text : {"1970-01-01T00:00:00Z", "1969-12-31T23:59:59.999999999Z", "2026-11-21T10:00:00Z",
                           "2026-11-21T10:00:00.000000001Z", "2026-12-31T23:59:59.120000000Z", "1900-03-01T00:00:00Z",
                           "2262-04-11T23:47:16.854775807Z"}) {
    EXPECT_EQ(utc_text(parse_unix_ns(text)), text);
  }
}

TEST(UtcTime, OfATick) {
  const auto zero = parse_unix_ns("2026-11-21T10:00:00Z");
  EXPECT_EQ(utc_text(zero, 0, 1000), "2026-11-21T10:00:00Z");
  EXPECT_EQ(utc_text(zero, 1'500'000'000, 1000), "2026-11-21T10:00:01.500000000Z");
  EXPECT_EQ(utc_text(zero, 1, 1), "2026-11-21T10:00:00.000000000001Z");
  EXPECT_EQ(utc_text(zero, 3, 25'000), "2026-11-21T10:00:00.000000075Z");
  EXPECT_EQ(utc_text(parse_unix_ns("1969-12-31T23:59:23Z"), Tick(37 * kSecond), 1000), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc_text(zero, std::numeric_limits<Tick>::max(), 1000), std::nullopt);
  EXPECT_EQ(utc_text(zero, std::numeric_limits<Tick>::max(), std::uint64_t{1} << 40), std::nullopt);
}

/// By the announcements of the leap seconds: the last second of UTC before each, and the one after it.
TEST(UtcTime, WhiteRabbitStampsAreAheadByTheLeapSeconds) {
  struct Case {
    const char* utc;
    std::int64_t ahead;
  };
  for (const auto& [utc, ahead] : {Case{"2026-11-21T10:00:00Z", 37},
                                   {"2017-01-01T00:00:00Z", 37},
                                   {"2016-12-31T23:59:59Z", 36},
                                   {"2015-07-01T00:00:00Z", 36},
                                   {"2015-06-30T23:59:59Z", 35},
                                   {"2012-07-01T00:00:00Z", 35},
                                   {"2012-06-30T23:59:59Z", 34},
                                   {"2009-01-01T00:00:00Z", 34},
                                   {"2008-12-31T23:59:59Z", 33}}) {
    const auto stamp = parse_unix_ns(utc) + ahead * kSecond;
    EXPECT_EQ(unix_ns_of_tai_zero(static_cast<std::uint64_t>(stamp)) + stamp, parse_unix_ns(utc)) << utc;
  }
  EXPECT_EQ(utc_text(unix_ns_of_tai_zero(0)), "1969-12-31T23:59:23Z");
}

}  // namespace eventloom::test
