#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>

#include "formats/ids.hpp"

namespace eventloom::test {
namespace {

template <class Operation, class A, class B>
constexpr bool kCompiles = std::is_invocable_v<Operation, A, B>;

template <class A, class B>
constexpr bool kMixes =
    std::is_constructible_v<A, B> || std::is_assignable_v<A&, B> || kCompiles<std::plus<>, A, B> ||
    kCompiles<std::minus<>, A, B> || kCompiles<std::modulus<>, A, B> || kCompiles<std::divides<>, A, B> ||
    kCompiles<std::equal_to<>, A, B> || kCompiles<std::less<>, A, B>;
static_assert(kMixes<Tick, Tick>);
static_assert(!kMixes<Tick, Epoch> && !kMixes<Epoch, Tick>);

/// A constant of another type than int must not be converted through int, which could not hold all of its values.
template <class N>
constexpr bool kOnlyExplicitly =
    std::is_constructible_v<Tick, N> && !std::is_convertible_v<N, Tick> && !kCompiles<std::plus<>, Tick, N> &&
    !kCompiles<std::less<>, Tick, N> && std::is_constructible_v<N, Tick> && !std::is_convertible_v<Tick, N>;
static_assert(kOnlyExplicitly<std::uint64_t> && kOnlyExplicitly<std::int64_t> && kOnlyExplicitly<std::uint32_t> &&
              kOnlyExplicitly<std::uint16_t> && kOnlyExplicitly<double>);

static_assert(!kCompiles<std::multiplies<>, Tick, Tick>, "there are no square ticks");
static_assert(std::same_as<std::invoke_result_t<std::divides<>, Tick, Tick>, std::uint64_t>);
static_assert(std::same_as<std::invoke_result_t<std::divides<>, Tick, std::uint64_t>, Tick>);
static_assert(std::same_as<std::invoke_result_t<std::multiplies<>, std::uint32_t, Epoch>, Epoch>);

static_assert(sizeof(Tick) == sizeof(std::uint64_t) && alignof(Tick) == alignof(std::uint64_t));
static_assert(std::is_trivially_copyable_v<Tick> && std::has_unique_object_representations_v<Tick>);

TEST(Count, ConstantsConvert) {
  Tick time = 7;
  time = time + 1;
  EXPECT_EQ(time.value, 8U);
  EXPECT_TRUE(time == 8 && 8 == time && time != 7 && time < 9 && 7 < time && time >= 8);
  time += 2;
  EXPECT_EQ((20 - time).value, 10U);
  EXPECT_EQ(Tick().value, 0U);
}

TEST(Count, NumbersConvertExplicitly) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(Tick(kMost).value, kMost);
  int n = 5;
  EXPECT_EQ(Tick(++n).value, 6U);
  EXPECT_EQ(Tick(std::int64_t{-1}).value, kMost);
  EXPECT_EQ(Tick(2.9).value, 2U);
  EXPECT_EQ(static_cast<double>(Tick(3)), 3.0);
  EXPECT_EQ(static_cast<std::uint32_t>(Tick((std::uint64_t{1} << 32) + 5)), 5U);
  EXPECT_EQ(static_cast<std::int64_t>(Tick(kMost)), -1);
}

TEST(Count, ComputesLikeItsValue) {
  const Tick a(47);
  const Tick b(10);
  EXPECT_EQ((a + b).value, 57U);
  EXPECT_EQ((a - b).value, 37U);
  EXPECT_EQ(a / b, 4U);
  EXPECT_EQ((a % b).value, 7U);
  EXPECT_EQ((a / 10).value, 4U);
  EXPECT_EQ((a % 10).value, 7U);
  EXPECT_EQ((3 * a).value, 141U);
  EXPECT_EQ((a * 3).value, 141U);
  Tick c = a;
  EXPECT_EQ((c += b).value, 57U);
  EXPECT_EQ((c -= a).value, 10U);
  EXPECT_EQ((++c).value, 11U);
  EXPECT_EQ((--c).value, 10U);
}

TEST(Count, WrapsAtItsLimits) {
  using Limits = std::numeric_limits<Epoch>;
  EXPECT_EQ(Limits::min().value, 0U);
  EXPECT_EQ(Limits::max().value, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(Limits::max() + 1, Limits::min());
  EXPECT_EQ(Limits::min() - 1, Limits::max());
  EXPECT_LT(Limits::min(), Limits::max());
}

}  // namespace
}  // namespace eventloom::test
