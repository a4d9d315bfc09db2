#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/ids.hpp"
#include "io/recorded/origin_key.hpp"
#include "io/recorded/tick_scale.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Converts the times of a table to ticks, exactly: decimal numbers of `unit`, or UTC (see formats/utc_time.hpp) since
/// `origin`. Without the key `origin` numbers count from 0 and must not be negative; `origin` is the time that becomes
/// tick 0: UTC, or a length of time such as -5ms.
class CsvTime {
 public:
  /// Throws UserError when a key is invalid. `unit`: that of the column's name, for when there is no key `unit`; with
  /// neither, numbers are refused.
  CsvTime(const SourceUri& uri, const std::string& unit, std::uint64_t tick_ps);

  /// Nothing when it comes before tick 0. Throws std::invalid_argument, which says what `text` is not.
  [[nodiscard]] std::optional<Tick> ticks(std::string_view text) const;

 private:
  void require_unit(std::string_view text) const;
  void require_digits(std::string_view text, Decimal value) const;
  [[nodiscard]] Attoseconds attoseconds(std::string_view text) const;
  [[nodiscard]] std::optional<Tick> since_origin(std::string_view text) const;

  TickScale scale_;
  Rounding rounding_;
  std::string unit_;  ///< empty: unknown
  std::uint64_t unit_ps_;
  std::uint64_t tick_ps_;
  bool utc_ = false;  ///< times are of the calendar
  std::optional<Attoseconds> origin_;
};

}  // namespace eventloom
