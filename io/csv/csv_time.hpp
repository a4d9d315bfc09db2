#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/ids.hpp"
#include "io/recorded/clock_turns.hpp"
#include "io/recorded/origin_key.hpp"
#include "io/recorded/tick_scale.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Converts the times of a table to ticks exactly. Times are decimal numbers of `unit`, or UTC (see
/// formats/utc_time.hpp), since `origin`. `origin` is the time that becomes tick 0: UTC, or a duration such as -5ms.
/// Numbers count from 0 and must not be negative if the key is missing. With the key `coarse`, a time is the sum of two
/// numbers: the time column, which may be negative, plus a column of steps of `coarse-unit`; or the steps less the
/// time, see subtracts_time().
class CsvTime {
 public:
  /// `unit`: the unit in the column's name, used without the key `unit`; with neither, numbers are refused. Throws
  /// UserError when a key is invalid.
  CsvTime(const SourceUri& uri, const std::string& unit, std::uint64_t tick_ps);

  /// The fields of a row that make its time; `coarse` is empty without the key.
  struct Fields {
    std::string_view time;
    std::string_view coarse;
  };

  /// Converts a time; std::nullopt if it is before tick 0. With the keys of ClockTurns, the counter of `channel` is
  /// unwrapped, the coarse one if there are two, and times must be passed in the order of the table. Throws
  /// std::invalid_argument that says what a field is not, and UserError when it is a time that other keys would accept:
  /// a unit, an origin or rounding is missing.
  std::optional<Tick> ticks(const Fields& fields, std::uint32_t channel);
  [[nodiscard]] ClockTurns& turns() { return turns_; }
  [[nodiscard]] const ClockTurns& turns() const { return turns_; }
  /// The counter of the times, the coarse one if there are two; std::nullopt if they are UTC.
  [[nodiscard]] std::optional<RawClock> raw_clock() const;
  /// Whether the times are UTC.
  [[nodiscard]] bool is_utc() const { return utc_; }
  /// A leap second between two ticks, which are a second closer than in reality, as UTC does not count it. std::nullopt
  /// if there is none, or times are not UTC.
  [[nodiscard]] std::optional<std::string> leap_second_between(Tick from, Tick to) const;

 private:
  void read_coarse_unit(const SourceUri& uri);
  [[nodiscard]] std::string unwrapped(std::string_view text, std::uint32_t channel);
  [[nodiscard]] std::optional<Tick> ticks_of(std::string_view text) const;
  [[nodiscard]] std::optional<Tick> sum_of(std::string_view text, std::string_view coarse) const;
  [[noreturn]] void reject_negative(std::string_view text) const;
  void require_unit(std::string_view text) const;
  void require_digits(std::string_view text, Decimal value) const;
  [[nodiscard]] TimeTerm term_of(std::string_view text) const;
  [[nodiscard]] ExactTime exact(std::string_view text) const;
  [[nodiscard]] std::optional<Tick> since_origin(std::string_view text, const ExactTime& time) const;

  TickScale scale_;
  ClockTurns turns_;
  Rounding rounding_;
  std::string unit_;                  ///< empty: unknown
  TimeUnit length_;                   ///< length of the unit, with the drift
  std::optional<Decimal> coarse_ps_;  ///< length of a coarse step times the divisor of length_; std::nullopt: none
  bool subtracts_;                    ///< the fine time is subtracted from the steps
  std::uint64_t tick_ps_;
  bool numbered_;     ///< times are event numbers
  bool utc_ = false;  ///< times are UTC
  std::optional<Attoseconds> origin_;
};

}  // namespace eventloom
