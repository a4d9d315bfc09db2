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
  TickScale(const SourceUri& uri, std::uint64_t tick_ps);

  [[nodiscard]] std::optional<Tick> ticks(Decimal value) const;
  [[nodiscard]] std::optional<Tick> ticks(std::uint64_t value) const { return ticks(Decimal{value, 0}); }
  /// Values within a millionth of a whole number of ticks count as whole.
  [[nodiscard]] std::optional<Tick> ticks(double value) const;

  /// Why `value`, as written in the input, is not a valid time, and what to do.
  [[nodiscard]] std::string complaint(const std::string& value) const;

 private:
  enum class Rounding { none, down, nearest };

  [[nodiscard]] std::optional<Tick> rounded(Decimal value) const;

  std::string unit_;
  std::uint64_t unit_ps_;
  std::uint64_t tick_ps_;
  std::uint64_t factor_;  ///< ticks per unit when that is whole, otherwise 0
  Rounding rounding_ = Rounding::none;
};

}  // namespace eventloom
