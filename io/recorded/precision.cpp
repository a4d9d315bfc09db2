#include "io/recorded/precision.hpp"

#include <algorithm>
#include <cmath>

namespace eventloom {

namespace {

/// Exponent of the smallest number of a type (IEEE 754).
int least_exponent(unsigned digits) {
  constexpr int kHalf = -24;
  constexpr int kSingle = -149;
  constexpr int kDouble = -1074;
  return digits == kHalfDigits ? kHalf : (digits == kSingleDigits ? kSingle : kDouble);
}

}  // namespace

double rounded_to(double number, unsigned digits) {
  if (digits >= kDoubleDigits || !std::isfinite(number)) return number;
  int exponent = 0;
  (void)std::frexp(number, &exponent);
  const int last = std::max(exponent - static_cast<int>(digits), least_exponent(digits));
  return std::ldexp(std::nearbyint(std::ldexp(number, -last)), last);
}

}  // namespace eventloom
