#pragma once

namespace eventloom {

/// Significant binary digits of floating-point numbers.
inline constexpr unsigned kHalfDigits = 11;
inline constexpr unsigned kSingleDigits = 24;
inline constexpr unsigned kDoubleDigits = 53;

/// The number of `digits` significant binary digits that is nearest to `number`, as a column of such numbers holds it:
/// 0.3 becomes another number in one of 24 digits than in one of 53. Halves are rounded to even.
double rounded_to(double number, unsigned digits);

}  // namespace eventloom
