#include "io/recorded/fine_ticks.hpp"

#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>

#include "core/runtime/error.hpp"
#include "io/recorded/tick_scale.hpp"

namespace eventloom {
namespace {

constexpr unsigned kDouble = 53;
constexpr unsigned kFloat = 24;

TickScale scale_of(const std::string& keys, std::uint64_t tick_ps) {
  return TickScale(SourceUri::parse("hdf5:x.h5?" + keys), tick_ps);
}

TEST(FineTicks, DoublesAreConvertedAsTheyAre) {
  const auto ratio = TickRatio::of({1'000'000'000'000, 0}, 1000);  // s in ns
  ASSERT_TRUE(ratio);
  // 1638368781.5 s is a double; so is the next one, 2^-22 s later.
  EXPECT_EQ(*ratio->fine(1638368781.5), FineTicks{1638368781500000000} << kFineBits);
  EXPECT_EQ(*ratio->fine(1638368781.5 + 0x1p-22) >> kFineBits, FineTicks{1638368781500000238});
  EXPECT_EQ(*ratio->fine(-0.5e-9) >> kFineBits, -1);
  EXPECT_EQ(*ratio->fine(0x1p-1074), 0);
  EXPECT_EQ(*ratio->fine(-0x1p-1074), -1);
  EXPECT_FALSE(ratio->fine(std::numeric_limits<double>::max()));
  EXPECT_FALSE(ratio->fine(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(ratio->fine(std::nan("")));
}

/// Compares with integer long division: value is m / 2^k, ticks are m * above / (below * 2^k).
TEST(FineTicks, AnyRatioAndNumber) {
  __extension__ using Wide = __int128;
  std::mt19937_64 random(4);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t unit = 1 + random() % 1'000'000;
    const std::uint64_t tick = 1 + random() % 100'000;
    const auto digits = static_cast<std::int64_t>(random() % (1U << 30U)) - (1 << 29);
    const int power = static_cast<int>(random() % 20);
    const auto ratio = TickRatio::of({unit, 0}, tick);
    ASSERT_TRUE(ratio);
    Wide above = Wide{digits} * static_cast<std::int64_t>(unit);
    const Wide below = Wide{static_cast<std::int64_t>(tick)} << power;
    Wide whole = above / below;
    if (above < 0 && above % below != 0) --whole;
    above = (above - whole * below) << kFineBits;  // below 2^37 * 2^48
    EXPECT_TRUE(*ratio->fine(std::ldexp(static_cast<double>(digits), -power)) == (whole << kFineBits) + above / below);
    if (power != 0) continue;
    const auto size = static_cast<std::uint64_t>(std::abs(digits));
    EXPECT_TRUE(ratio->fine(size, digits < 0) == ratio->fine(static_cast<double>(digits)));
  }
}

TEST(FineTicks, WholeNumbersUpTo64Bits) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  const auto same = TickRatio::of({1000, 0}, 1000);
  EXPECT_TRUE(*same->fine(kMost) >> kFineBits == FineTicks{kMost});
  EXPECT_TRUE(*same->fine(std::uint64_t{1} << 63, true) >> kFineBits ==
              FineTicks{std::numeric_limits<std::int64_t>::min()});
  EXPECT_TRUE(*TickRatio::of({2000, 0}, 1000)->fine(kMost) >> kFineBits == 2 * FineTicks{kMost});
  EXPECT_FALSE(TickRatio::of({1'000'000'000, 0}, 1000)->fine(kMost));
  EXPECT_FALSE(TickRatio::of({1, 40}, 1));
  EXPECT_FALSE(TickRatio::of({7, -60}, 1));
}

TEST(TickScale, ANumberOfFewerDigitsLosesPrecisionEarlier) {
  const auto ns = scale_of("unit=ns", 1000);
  EXPECT_LE(ns.spacing(0x1p53 - 1, kDouble), 1);
  EXPECT_GT(ns.spacing(0x1p53, kDouble), 1);
  EXPECT_LE(ns.spacing(0x1p24 - 1, kFloat), 1);
  EXPECT_GT(ns.spacing(0x1p24, kFloat), 1);
  const auto s = scale_of("unit=s", 1000);
  EXPECT_LE(s.spacing(8e6, kDouble), 1);
  EXPECT_GT(s.spacing(9e6, kDouble), 1);
  EXPECT_EQ(s.coarse_defect(1.6e9, kDouble),
            "the time 1600000000 s has lost precision: numbers of its type are 238.4 ns apart there, ticks 1 ns; store "
            "the times as integers, or add round=nearest to the source to accept that");
}

TEST(TickScale, CountsAsWholeWhatTheNumberCannotDistinguishFromIt) {
  const auto s = scale_of("unit=s", 1000);
  EXPECT_EQ(s.ticks(0.3, kDouble), Tick(300'000'000));
  EXPECT_EQ(s.ticks(123456.789012345, kDouble), Tick(123'456'789'012'345));
  EXPECT_EQ(s.ticks(-1e-16, kDouble), Tick(0));
  EXPECT_FALSE(s.ticks(-1e-9, kDouble));
  EXPECT_FALSE(s.ticks(0.3 + 1e-14, kDouble));
  EXPECT_FALSE(s.ticks(123456.7890123455, kDouble));  // half a tick: spacing 1/64
  EXPECT_FALSE(s.ticks(18446744073.8, kDouble));
  EXPECT_EQ(scale_of("unit=s&round=down", 1000).ticks(0.3, kDouble), Tick(300'000'000));
  EXPECT_EQ(scale_of("unit=s&round=down", 1000).ticks(123456.7890123455, kDouble), Tick(123'456'789'012'345));
  EXPECT_EQ(scale_of("unit=s&round=nearest", 1000).ticks(1.5e-9, kDouble), Tick(1));  // the double lies below it
  EXPECT_EQ(scale_of("unit=ns&round=nearest", 1000).ticks(1.5, kDouble), Tick(2));
}

/// Compares with integer long division, for units with fractional ticks and numbers that overflow 64 bits.
TEST(TickScale, RoundsWholeNumbersOfAnyUnit) {
  __extension__ using Wide = unsigned __int128;
  const auto ticks_of = [](std::uint64_t value, std::uint64_t unit_ps, std::uint64_t tick_ps,
                           const std::string& round) -> std::optional<Tick> {
    const Wide above = Wide{value} * unit_ps;
    const Wide rest = above % tick_ps;
    if (round == "none" && rest != 0) return std::nullopt;
    const Wide ticks = above / tick_ps + (round == "nearest" && 2 * rest >= tick_ps ? 1 : 0);
    if (ticks > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
    return Tick(static_cast<std::uint64_t>(ticks));
  };
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t unit = 1 + random() % 100'000;
    const std::uint64_t tick = 1 + random() % 100'000;
    const std::uint64_t value = random() >> random() % 64;
    for (const std::string round : {"none", "down", "nearest"}) {
      const auto keys = fmt::format("unit={}ps{}", unit, round == "none" ? "" : "&round=" + round);
      EXPECT_EQ(scale_of(keys, tick).ticks(value), ticks_of(value, unit, tick, round)) << keys << " " << value;
    }
  }
}

}  // namespace
}  // namespace eventloom
