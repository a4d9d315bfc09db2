#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/ids.hpp"
#include "io/hdf5_input/lost_rows.hpp"
#include "io/hdf5_input/time_unit.hpp"
#include "io/hdf5_input/value_column.hpp"
#include "io/recorded/clock_turns.hpp"
#include "io/recorded/clocks_by_channel.hpp"
#include "io/recorded/fine_ticks.hpp"
#include "io/recorded/tick_scale.hpp"

namespace eventloom {

/// Whether a time is the number of its dataset or the negative of it.
enum class TimeSign : std::uint8_t { as_stored, negated };

/// A dataset of times: numbers in a unit, which may depend on the channel of the hit.
class TimeNumbers {
 public:
  using Scales = ClocksByChannel<TimeScale>;
  TimeNumbers(ValueColumn values, Scales scales, ClockTurns turns = {}, TimeSign sign = TimeSign::as_stored)
      : values_(std::move(values)), scales_(std::move(scales)), turns_(std::move(turns)), sign_(sign) {}

  [[nodiscard]] const ColumnReader& column() const { return values_.column(); }
  /// That of the first unit.
  [[nodiscard]] const TickScale& scale() const { return scales_.first().ticks; }
  /// The clock of these numbers, as the dataset holds them, where times begin at `begin`.
  [[nodiscard]] RawClock raw_clock(FineTicks begin) const;
  /// Null if the channel has no unit.
  [[nodiscard]] const TickScale* scale_of(std::uint32_t channel) {
    const auto* const scale = scales_.of(channel);
    return scale == nullptr ? nullptr : &scale->ticks;
  }

  /// Reads the rows [row, row + n). Throws UnreadableRows.
  void read(std::uint64_t row, std::size_t n) { values_.read(row, n); }
  /// Which of them have a time.
  [[nodiscard]] const ValueColumn& values() const { return values_; }

  struct Time {
    FineTicks ticks = 0;
    double slack = 0;  ///< see TickScale::slack()
  };
  /// Unwraps the rows read, in their order, whose hits have these channels, unless they are lost. To be called once
  /// after read(). A number that the counter does not have makes a bad row.
  void unwrap(std::span<const std::uint32_t> channels, LostRows& lost);
  /// Time of row `row` + `i`, a hit of `channel`; both must have one, and a unit. Floating-point numbers are unwrapped
  /// here, so their rows must be requested in order. Throws std::invalid_argument when the number is no time
  /// (reject()), and UserError when it has lost precision although the URI does not allow rounding.
  Time at(std::size_t i, std::uint32_t channel);
  /// True when all times are integers and whole ticks (the common case). Then product() is the time of row `row` + `i`;
  /// std::nullopt when it is negative or too large.
  [[nodiscard]] bool whole() const {
    const auto& scale = scales_.first();
    return !column().is_float() && scales_.is_one() && scale.ticks.factor() != 0 && scale.steps == 0 &&
           scale.offset == 0 && sign_ == TimeSign::as_stored;
  }
  [[nodiscard]] std::optional<Tick> product(std::size_t i) const;
  /// The size of the least of the numbers read, at least 1, and the width of whole numbers; 0: they are others.
  [[nodiscard]] std::uint64_t most_negative() const;
  [[nodiscard]] unsigned number_bits() const;
  /// Throws std::invalid_argument with the dataset and row `row` + `i`, which makes it a bad row.
  [[noreturn]] void reject(std::size_t i, const std::string& defect) const;
  /// Likewise UserError: another URI would accept the number.
  [[noreturn]] void ask_for_keys(std::size_t i, const std::string& defect) const;
  [[nodiscard]] ClockTurns& turns() { return turns_; }
  [[nodiscard]] const ClockTurns& turns() const { return turns_; }
  [[nodiscard]] TimeSign sign() const { return sign_; }

 private:
  [[nodiscard]] Time unwrapped_at(std::size_t i, std::uint32_t channel, const TimeScale& scale);
  [[nodiscard]] std::optional<std::uint64_t> extend(std::size_t i, std::uint32_t channel);
  [[nodiscard]] Time float_at(std::size_t i, const TimeScale& scale) const;
  /// The time of a whole number of this size and sign.
  [[nodiscard]] FineTicks fine(std::size_t i, std::uint64_t size, bool negative, const TimeScale& scale) const;
  [[nodiscard]] Time with_offset(FineTicks time, double slack, const TimeScale& scale) const;

  ValueColumn values_;
  Scales scales_;
  ClockTurns turns_;
  TimeSign sign_;
};

}  // namespace eventloom
