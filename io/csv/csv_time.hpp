#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/ids.hpp"
#include "io/recorded/tick_scale.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Converts the times of a table to ticks, exactly: decimal numbers of `unit`, or UTC (see formats/utc_time.hpp) since
/// `origin`. Without the key `origin` numbers count from 0 and must not be negative; `origin` is the time that becomes
/// tick 0: UTC, or a length of time such as -5ms.
class CsvTime {
 public:
  /// Throws UserError when a key is invalid. `unit`: of the times when there is no key `unit`; empty: ns.
  CsvTime(const SourceUri& uri, const std::string& unit, std::uint64_t tick_ps);

  /// Nothing when it comes before tick 0. Throws std::invalid_argument, which says what `text` is not.
  [[nodiscard]] std::optional<Tick> ticks(std::string_view text) const;
  /// Whether the times are of the calendar.
  [[nodiscard]] bool is_utc() const { return utc_; }
  /// A leap second between two ticks, which are then a second closer than they were: UTC does not count it. Nothing
  /// when there is none, or times are not of the calendar.
  [[nodiscard]] std::optional<std::string> leap_second_between(Tick from, Tick to) const;

 private:
  __extension__ using Wide = __int128;

  [[nodiscard]] Wide attoseconds(std::string_view text) const;
  [[nodiscard]] std::optional<Tick> since_origin(std::string_view text) const;

  TickScale scale_;
  Rounding rounding_;
  std::uint64_t unit_ps_;
  std::uint64_t tick_ps_;
  bool utc_ = false;            ///< times are of the calendar
  std::optional<Wide> origin_;  ///< attoseconds
};

}  // namespace eventloom
