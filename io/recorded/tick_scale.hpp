#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/ids.hpp"
#include "formats/units.hpp"
#include "io/recorded/fine_ticks.hpp"
#include "io/recorded/raw_clock.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Converts the times of a foreign format to ticks, according to the keys `unit`, `drift` and `round` of its URI. A
/// conversion returns std::nullopt when the time does not fit, or is not a whole number of ticks and must not be
/// rounded; defect() then gives the reason. The key `drift` implies round=nearest.
class TickScale {
 public:
  /// `scale`: factor of the numbers, from the format or the URI. Throws UserError when a key is invalid, or the
  /// scale has too many digits.
  TickScale(const SourceUri& uri, std::uint64_t tick_ps, Decimal scale = {1, 0});
  /// Constructor for a format whose times have a fixed unit: only the key `round` is used. `otherwise` is its default.
  TickScale(const SourceUri& uri, Decimal unit_ps, std::uint64_t tick_ps, Rounding otherwise);

  /// Throws UserError when the URI has one of these keys although times are event numbers.
  static void refuse_keys(const SourceUri& uri);

  /// Constructor for a unit that the reader derives from the keys; `unit` names it in messages.
  TickScale(const SourceUri& uri, std::string unit, const TimeUnit& length, std::uint64_t tick_ps, Rounding otherwise);

  [[nodiscard]] std::optional<Tick> ticks(Decimal value) const;
  [[nodiscard]] std::optional<Tick> ticks(std::uint64_t value) const {
    std::uint64_t above = 0;
    if (below_ == 0 || __builtin_mul_overflow(value, above_, &above)) return ticks(Decimal{value, 0});
    const std::uint64_t rest = above % below_;
    if (rest != 0 && rounding_ == Rounding::none) return std::nullopt;
    return Tick(above / below_ + (rounding_ == Rounding::nearest && rest >= below_ - rest ? 1 : 0));
  }
  [[nodiscard]] Rounding rounding() const { return rounding_; }
  /// Ticks per unit if that is an integer, otherwise 0.
  [[nodiscard]] std::uint64_t factor() const { return factor_; }
  /// Whether the last digit of a decimal number stands for more than a tick, as in 1.64E+15, and `round` does not allow
  /// that.
  [[nodiscard]] bool lacks_digits(Decimal value) const;
  /// Likewise for a floating-point number of `bits` significant binary digits.
  [[nodiscard]] bool lacks_precision(double value, unsigned bits) const;
  /// Whether ticks() fails only because it must not round.
  [[nodiscard]] bool needs_rounding(Decimal value) const;
  /// The clock whose numbers are `zero` ticks less than the times.
  [[nodiscard]] RawClock raw_clock(double zero) const;
  /// Ticks per unit, for numbers that are not integers or are signed.
  [[nodiscard]] const TickRatio& ratio() const { return ratio_; }

  /// Converts a floating-point number of `bits` significant binary digits exactly: to a tick within slack(), or with
  /// the rounding that `round` specifies.
  [[nodiscard]] std::optional<Tick> ticks(double value, unsigned bits) const;
  /// Distance in ticks between adjacent numbers of `bits` digits at `value`. If it exceeds 1, the time has lost
  /// precision.
  [[nodiscard]] double spacing(double value, unsigned bits) const { return ratio_.spacing(value, bits); }
  /// Distance from a whole tick within which a floating-point number counts as whole: a millionth of a tick, or half
  /// the spacing of such numbers if larger, since none may be closer; at most a quarter tick. With round=down, numbers
  /// count as whole within a millionth of a tick if they are spaced that finely; otherwise they are rounded down
  /// exactly.
  [[nodiscard]] double slack(double spacing) const;
  /// The tick of a time, rounded as `round` specifies; std::nullopt if it must not be rounded and is further than
  /// `slack` from a tick.
  [[nodiscard]] std::optional<FineTicks> whole(FineTicks time, double slack) const;

  /// Why `value`, as written in the input, is not a valid time, and how to fix it.
  [[nodiscard]] std::string defect(const std::string& value) const;
  /// Likewise for a time that is too large.
  [[nodiscard]] std::string range_defect(const std::string& value) const;
  /// Likewise for a number of `bits` digits that has lost precision.
  [[nodiscard]] std::string coarse_defect(double value, unsigned bits) const;

 private:
  void reduce();
  [[nodiscard]] std::string in_words(const std::string& value) const;

  std::string unit_;
  Decimal unit_ps_;  ///< includes the scale and the drift
  std::uint64_t tick_ps_;
  std::uint64_t divisor_ = 1;  ///< tick_ps_ times the divisor of the unit: a number x unit_ps_ / divisor_ is in ticks
  TickRatio ratio_;
  std::uint64_t factor_ = 0;  ///< ticks per unit if that is an integer, otherwise 0
  std::uint64_t above_ = 0;   ///< ticks per unit as a fraction in lowest terms, above / below,
  std::uint64_t below_ = 0;   ///< if both fit in 64 bits; otherwise below is 0
  Rounding rounding_;
  bool rounding_stated_;
};

}  // namespace eventloom
