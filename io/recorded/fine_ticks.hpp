#pragma once

#include <cstdint>
#include <optional>

#include "formats/units.hpp"

namespace eventloom {

/// A time in 2^-48 ticks, which may be negative. A time that is no whole number of them is rounded down: that changes
/// neither the tick below it nor the nearest one.
__extension__ using FineTicks = __int128;
inline constexpr int kFineBits = 48;
inline constexpr FineTicks kFineTick = FineTicks{1} << kFineBits;

/// Ticks per unit of time, an exact fraction. Converts numbers by whole-number arithmetic alone: a product in floating
/// point would add an error of its own.
class TickRatio {
 public:
  /// Nothing when the fraction has too many digits.
  static std::optional<TickRatio> of(Decimal unit_ps, std::uint64_t tick_ps);

  /// Nothing from 2^76 ticks on: picoseconds since 1970 fit.
  [[nodiscard]] std::optional<FineTicks> fine(std::uint64_t value) const { return fine(value, 0, false); }
  [[nodiscard]] std::optional<FineTicks> fine(std::int64_t value) const;
  /// Likewise; nothing for NaN and infinity, either.
  [[nodiscard]] std::optional<FineTicks> fine(double value) const;

  /// The distance in ticks, to double precision, between floating-point numbers of `bits` significant binary digits
  /// next to `value`, which is finite.
  [[nodiscard]] double spacing(double value, unsigned bits) const;

 private:
  __extension__ using Wide = unsigned __int128;
  /// digits * 2^power.
  [[nodiscard]] std::optional<FineTicks> fine(std::uint64_t digits, int power, bool negative) const;

  std::uint64_t above_ = 1;  ///< odd, as is below_: the ratio is above / below * 2^power
  std::uint64_t below_ = 1;
  int power_ = 0;
};

}  // namespace eventloom
