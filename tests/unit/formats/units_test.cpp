#include "formats/units.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace eventloom::test {

TEST(Units, DecimalsAreExact) {
  const auto value = parse_decimal("8.400000");
  ASSERT_TRUE(value);
  EXPECT_EQ(to_ticks(*value, 1'000'000'000, 1000), Tick(8'400'000));  // 8.4 ms in ns
  EXPECT_EQ(to_ticks(*parse_decimal("0.1"), 1'000'000'000'000, 1), Tick(100'000'000'000U));
  EXPECT_EQ(to_ticks(*parse_decimal("1e6"), 1000, 1000), Tick(1'000'000));
  EXPECT_EQ(to_ticks(*parse_decimal(".5"), 1000, 500), Tick(1));
  EXPECT_EQ(to_ticks(*parse_decimal("1.5"), 1000, 1000), std::nullopt);
  EXPECT_EQ(to_ticks(*parse_decimal("18446744073709551615"), 1000, 1000), Tick(18'446'744'073'709'551'615U));
  EXPECT_EQ(to_ticks(*parse_decimal("1844674407370955161.5"), 10'000, 1000), Tick(18'446'744'073'709'551'615U));
  EXPECT_FALSE(parse_decimal("18446744073709551616"));
}

TEST(Units, NotDecimals) {
  for (const char* text : {"", ".", "e3", "1e", "1e+", "1e+-5", "1e-+5", "1e++5", "1.2.3", "-1", "+1", "1 ", " 1",
                           "0x10", "1e41", "nan", "1,5"}) {
    EXPECT_FALSE(parse_decimal(text)) << "'" << text << "'";
  }
}

TEST(Units, Durations) {
  EXPECT_EQ(parse_duration("25", 1000), Tick(25));
  EXPECT_EQ(parse_duration("0", 1000), Tick(0));
  EXPECT_EQ(parse_duration("25ns", 1000), Tick(25));
  EXPECT_EQ(parse_duration("0.5us", 1000), Tick(500));
  EXPECT_EQ(parse_duration("1s", 1000), Tick(1'000'000'000));
  EXPECT_EQ(parse_duration("100ps", 50), Tick(2));
  EXPECT_EQ(parse_duration("1e3", 1000), Tick(1000));
  EXPECT_EQ(parse_duration("18446744073s", 1'000'000), Tick(18'446'744'073'000'000U));
  for (const char* text : {"", "ns", "25 ns", "25m", "25nss", "-1ns", "0.5", "0.5ns", "1e30"}) {
    EXPECT_THROW(parse_duration(text, 1000), std::invalid_argument) << "'" << text << "'";
  }
}

TEST(Units, Offsets) {
  EXPECT_EQ(parse_offset("-5ms", 1000), -5'000'000);
  EXPECT_EQ(parse_offset("2h", 1000), 7'200'000'000'000);
  EXPECT_EQ(parse_offset("-17", 1000), -17);
  EXPECT_EQ(parse_offset("1.4999ns", 1000), 1) << "to the nearest tick";
  EXPECT_EQ(parse_offset("-1.5ns", 1000), -2);
  EXPECT_EQ(parse_offset("-0.4ns", 1000), 0);
  for (const char* text : {"", "-", "--5ns", "5.5", "5 ns", "ns", "5parsec", "1e19", "300000000000s"}) {
    EXPECT_THROW(parse_offset(text, 1000), std::invalid_argument) << "'" << text << "'";
  }
}

TEST(Units, StepsInALongTime) {
  constexpr std::uint64_t kTenYears = 315'360'000'000'000'000;  // ns; 213 days are 2^64 ps
  EXPECT_EQ(steps_in(kTenYears, 10'000'000), 31'536'000'000'000U);
  EXPECT_EQ(steps_in(kTenYears, 1), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(steps_in(1, 3), 333U);
  EXPECT_EQ(steps_in(0, 5), 0U);
}

TEST(Units, PicosecondsDemandAUnit) {
  EXPECT_EQ(parse_picoseconds("1ns"), 1000U);
  EXPECT_EQ(parse_picoseconds("0.001ns"), 1U);
  EXPECT_THROW(parse_picoseconds("5"), std::invalid_argument);
  EXPECT_THROW(parse_picoseconds("0.0001ns"), std::invalid_argument);
}

TEST(Units, Bytes) {
  EXPECT_EQ(parse_bytes("4096"), 4096U);
  EXPECT_EQ(parse_bytes("64KiB"), 65'536U);
  EXPECT_EQ(parse_bytes("1MiB"), 1'048'576U);
  EXPECT_EQ(parse_bytes("1.5GiB"), 1'610'612'736U);
  EXPECT_EQ(parse_bytes("3kB"), 3000U);
  EXPECT_EQ(parse_bytes("0.5MB"), 500'000U);
  EXPECT_EQ(parse_bytes("2GB"), 2'000'000'000U);
  for (const char* text : {"", "KiB", "1KB", "1kib", "0.5", "-1", "99999999999GiB"}) {
    EXPECT_THROW(parse_bytes(text), std::invalid_argument) << "'" << text << "'";
  }
}

TEST(Units, Counts) {
  EXPECT_EQ(parse_count("1000"), 1000U);
  EXPECT_EQ(parse_count("1e6"), 1'000'000U);
  for (const char* text : {"", "1.5", "-1", "1k", "1e30"}) {
    EXPECT_THROW(parse_count(text), std::invalid_argument) << "'" << text << "'";
  }
}

}  // namespace eventloom::test
