#pragma once

#include <cstdint>
#include <optional>

#include "formats/units.hpp"

namespace eventloom {

/// A time in 2^-48 ticks, which may be negative. Other times are rounded down, which changes neither the tick below nor
/// the nearest one.
__extension__ using FineTicks = __int128;
inline constexpr int kFineBits = 48;
inline constexpr FineTicks kFineTick = FineTicks{1} << kFineBits;

/// Ticks per unit of time, as an exact fraction. Converts numbers by integer arithmetic alone, since a floating-point
/// product would add a rounding error.
class TickRatio {
 public:
  /// std::nullopt if the fraction has too many digits.
  static std::optional<TickRatio> of(Decimal unit_ps, std::uint64_t tick_ps);

  /// The time of `value`, or of its negative. std::nullopt if it is 2^76 ticks or more. Picoseconds since 1970 fit.
  [[nodiscard]] std::optional<FineTicks> fine(std::uint64_t value, bool negative = false) const {
    return fine(value, 0, negative);
  }
  /// Also std::nullopt for NaN and infinity.
  [[nodiscard]] std::optional<FineTicks> fine(double value) const;

  /// Distance in ticks, to double precision, between adjacent floating-point numbers of `bits` significant binary
  /// digits at `value`, which must be finite.
  [[nodiscard]] double spacing(double value, unsigned bits) const;

 private:
  __extension__ using Wide = unsigned __int128;
  /// Converts digits * 2^power.
  [[nodiscard]] std::optional<FineTicks> fine(std::uint64_t digits, int power, bool negative) const;

  std::uint64_t above_ = 1;  ///< odd, as is below_: the ratio is above / below * 2^power
  std::uint64_t below_ = 1;
  int power_ = 0;
};

}  // namespace eventloom
