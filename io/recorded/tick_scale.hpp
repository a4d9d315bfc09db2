#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/ids.hpp"
#include "formats/units.hpp"
#include "io/recorded/fine_ticks.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Converts the times of a foreign format to ticks, as the keys `unit` and `round` of its URI say. A conversion gives
/// nothing when the time is not a whole number of ticks and must not be rounded, or does not fit; complaint() then
/// explains it.
class TickScale {
 public:
  /// Throws UserError when `unit` or `round` is not known.
  /// `scale`: of the numbers, as the format or the URI says.
  TickScale(const SourceUri& uri, std::uint64_t tick_ps, Decimal scale = {1, 0});
  /// Of a format whose times have a unit of their own: only the key `round` counts. `otherwise`: without it.
  TickScale(const SourceUri& uri, Decimal unit_ps, std::uint64_t tick_ps, Rounding otherwise);

  /// Throws UserError when the URI has a key that says what numbers mean, though they are event numbers.
  static void refuse_keys(const SourceUri& uri);

  [[nodiscard]] std::optional<Tick> ticks(Decimal value) const;
  [[nodiscard]] std::optional<Tick> ticks(std::uint64_t value) const { return ticks(Decimal{value, 0}); }
  [[nodiscard]] Rounding rounding() const { return rounding_; }
  /// Ticks per unit when that is whole, otherwise 0.
  [[nodiscard]] std::uint64_t factor() const { return factor_; }
  /// Whether ticks() would return something if it were allowed to round.
  [[nodiscard]] bool needs_rounding(Decimal value) const;
  /// Ticks per unit, for numbers that are not whole, or have a sign.
  [[nodiscard]] const TickRatio& ratio() const { return ratio_; }

  /// Of a floating-point number of `bits` significant binary digits, exactly, to the nearest tick or as `round` says.
  [[nodiscard]] std::optional<Tick> ticks(double value, unsigned bits) const;
  /// Distance in ticks between numbers of `bits` digits next to `value`. Above 1 such a time has lost precision.
  [[nodiscard]] double spacing(double value, unsigned bits) const { return ratio_.spacing(value, bits); }
  /// How far from a whole tick a floating-point number may be to count as whole: a millionth of a tick, or half the
  /// spacing of such numbers, which may hold none that is closer. Where it is rounded down anyway, that is done exactly
  /// unless such numbers tell millionths of a tick.
  [[nodiscard]] double slack(double spacing) const;
  /// The tick of a time, rounded as `round` says; nothing when it must not be rounded and is further than `slack` from
  /// one.
  [[nodiscard]] std::optional<FineTicks> whole(FineTicks time, double slack) const;

  /// Why `value`, as written in the input, is not a valid time, and what to do.
  [[nodiscard]] std::string complaint(const std::string& value) const;
  /// Likewise, of one that is too large.
  [[nodiscard]] std::string range_complaint(const std::string& value) const;
  /// Likewise, of a number of `bits` digits that has lost precision.
  [[nodiscard]] std::string coarse_complaint(double value, unsigned bits) const;

 private:
  [[nodiscard]] std::string in_words(const std::string& value) const;

  std::string unit_;
  Decimal unit_ps_;  ///< with the scale
  std::uint64_t tick_ps_;
  TickRatio ratio_;
  std::uint64_t factor_ = 0;  ///< ticks per unit when that is whole, otherwise 0
  Rounding rounding_;
};

}  // namespace eventloom
