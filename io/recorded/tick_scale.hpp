#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/ids.hpp"
#include "formats/units.hpp"
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
  /// Values within a millionth of a whole number of ticks count as whole.
  [[nodiscard]] std::optional<Tick> ticks(double value) const;

  /// Why `value`, as written in the input, is not a valid time, and what to do.
  [[nodiscard]] std::string complaint(const std::string& value) const;

 private:
  std::string unit_;
  Decimal unit_ps_;  ///< with the scale
  std::uint64_t tick_ps_;
  std::uint64_t factor_ = 0;  ///< ticks per unit when that is whole, otherwise 0
  Rounding rounding_;
};

}  // namespace eventloom
