#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/ids.hpp"
#include "io/hdf5/column_reader.hpp"
#include "io/hdf5_input/lost_rows.hpp"
#include "io/hdf5_input/missing_values.hpp"
#include "io/hdf5_input/time_unit.hpp"
#include "io/recorded/clock_turns.hpp"
#include "io/recorded/fine_ticks.hpp"
#include "io/recorded/tick_scale.hpp"

namespace eventloom {

/// Whether a time is the number of its dataset or the negative of it.
enum class TimeSign : std::uint8_t { as_stored, negated };

/// A dataset of times: numbers in a unit.
class TimeNumbers {
 public:
  TimeNumbers(ColumnReader column, TimeScale scale, ClockTurns turns = {}, TimeSign sign = TimeSign::as_stored);

  [[nodiscard]] const ColumnReader& column() const { return column_; }
  [[nodiscard]] const TickScale& scale() const { return scale_.ticks; }

  /// Reads the rows [row, row + n). Throws UnreadableRows.
  void read(std::uint64_t row, std::size_t n);

  /// Marks the rows without a time as lost.
  void mark(LostRows& lost) const { lost.mark(missing_, column_.name()); }

  struct Time {
    FineTicks ticks = 0;
    double slack = 0;  ///< see TickScale::slack()
  };
  /// Whether row `row` + `i` has no time: a number that is missing, see MissingValues, or not finite.
  [[nodiscard]] bool lacks(std::size_t i) const { return !missing_.empty() && missing_[i]; }
  /// Unwraps the rows read, in their order, whose hits have these channels, unless they are lost. To be called once
  /// after read(). Throws UserError for a number that the counter does not have.
  void unwrap(std::span<const std::uint32_t> channels, const LostRows& lost);
  /// Time of row `row` + `i`, a hit of `channel`, which must have one. Floating-point numbers are unwrapped here, so
  /// their rows must be requested in order. Throws UserError when the number is too large, or has lost precision
  /// although the URI does not allow rounding.
  Time at(std::size_t i, std::uint32_t channel);
  /// True when all times are integers and whole ticks (the common case). Then product() is the time of row `row` + `i`;
  /// std::nullopt when it is negative or too large.
  [[nodiscard]] bool whole() const {
    return !column_.is_float() && scale().factor() != 0 && scale_.steps == 0 && scale_.offset == 0 &&
           sign_ == TimeSign::as_stored;
  }
  [[nodiscard]] std::optional<Tick> product(std::size_t i) const;
  /// Throws UserError with the dataset and row `row` + `i`.
  [[noreturn]] void reject(std::size_t i, const std::string& defect) const;
  [[nodiscard]] ClockTurns& turns() { return turns_; }
  [[nodiscard]] const ClockTurns& turns() const { return turns_; }
  /// The number as text, for messages.
  [[nodiscard]] std::string text_of(std::size_t i) const;
  [[nodiscard]] TimeSign sign() const { return sign_; }

 private:
  [[nodiscard]] Time unwrapped_at(std::size_t i, std::uint32_t channel);
  [[nodiscard]] std::optional<std::uint64_t> extend(std::size_t i, std::uint32_t channel);
  [[nodiscard]] Time float_at(std::size_t i) const;
  void add_steps(std::size_t i, std::uint64_t& size, bool& negative) const;
  [[nodiscard]] Time with_offset(FineTicks time, double slack) const;

  ColumnReader column_;
  MissingValues missing_values_;
  TimeScale scale_;
  ClockTurns turns_;
  TimeSign sign_;
  std::uint64_t row_ = 0;
  std::vector<std::uint64_t> integers_;
  std::vector<double> doubles_;
  std::vector<bool> missing_;  ///< flags of the rows read; empty when none can be missing
};

}  // namespace eventloom
