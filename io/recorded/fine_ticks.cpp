#include "io/recorded/fine_ticks.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace eventloom {

std::optional<TickRatio> TickRatio::of(Decimal unit_ps, std::uint64_t tick_ps) {
  if (unit_ps.digits == 0) return std::nullopt;
  const auto common = std::gcd(unit_ps.digits, tick_ps);
  TickRatio ratio;
  ratio.above_ = unit_ps.digits / common;
  ratio.below_ = tick_ps / common;
  // 10^n = 5^n 2^n
  const bool multiplies = unit_ps.exponent > 0;
  auto& grows = multiplies ? ratio.above_ : ratio.below_;
  auto& shrinks = multiplies ? ratio.below_ : ratio.above_;
  for (int i = 0; i < std::abs(unit_ps.exponent); ++i) {
    if (shrinks % 5 == 0) {
      shrinks /= 5;
    } else if (__builtin_mul_overflow(grows, std::uint64_t{5}, &grows)) {
      return std::nullopt;
    }
  }
  const int twos_above = std::countr_zero(ratio.above_);
  const int twos_below = std::countr_zero(ratio.below_);
  ratio.above_ >>= twos_above;
  ratio.below_ >>= twos_below;
  ratio.power_ = unit_ps.exponent + twos_above - twos_below;
  return ratio;
}

std::optional<FineTicks> TickRatio::fine(double value) const {
  constexpr int kStored = 52;  // stored binary digits; the first is implied unless the exponent is 0
  constexpr std::uint64_t kMostExponent = 2047;
  constexpr int kZero = 1075;  // exponent at which the 53 digits form an integer
  const auto bits = std::bit_cast<std::uint64_t>(std::abs(value));
  const auto exponent = bits >> kStored;
  const auto digits = bits & ((std::uint64_t{1} << kStored) - 1);
  if (exponent == kMostExponent) return std::nullopt;
  if (exponent == 0) return fine(digits, 1 - kZero, value < 0);
  return fine(digits | std::uint64_t{1} << kStored, static_cast<int>(exponent) - kZero, value < 0);
}

std::optional<FineTicks> TickRatio::fine(std::uint64_t digits, int power, bool negative) const {
  constexpr int kWideBits = 128;
  constexpr int kMostBits = 76 + kFineBits;
  if (digits == 0) return 0;
  Wide value = Wide{digits} * above_;
  power += power_;
  if (power > 0) {
    if (power >= kMostBits || value >> (kWideBits - power) != 0) return std::nullopt;
    value <<= power;
    power = 0;
  }
  Wide whole = below_ == 1 ? value : value / below_;
  Wide rest = below_ == 1 ? 0 : value % below_;
  if (const int shift = kFineBits + power; shift >= 0) {
    if (whole >> (kMostBits - shift) != 0) return std::nullopt;
    rest <<= shift;
    whole = (whole << shift) + rest / below_;
    rest %= below_;
  } else {
    const Wide kept = shift > -kWideBits ? whole >> -shift : 0;
    if (shift <= -kWideBits || kept << -shift != whole) rest = 1;
    whole = kept;
  }
  const auto size = static_cast<FineTicks>(whole);
  return negative ? -size - (rest != 0 ? 1 : 0) : size;
}

double TickRatio::spacing(double value, unsigned bits) const {
  if (value == 0) return 0;
  const double ratio = static_cast<double>(above_) / static_cast<double>(below_);
  return std::ldexp(ratio, power_ + std::ilogb(value) + 1 - static_cast<int>(bits));
}

}  // namespace eventloom
