#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/ids.hpp"
#include "io/hdf5/column_reader.hpp"
#include "io/recorded/fine_ticks.hpp"
#include "io/recorded/tick_scale.hpp"

namespace eventloom {

/// A dataset of numbers that are times in a unit.
class TimeNumbers {
 public:
  TimeNumbers(ColumnReader column, TickScale scale) : column_(std::move(column)), scale_(std::move(scale)) {}

  [[nodiscard]] const ColumnReader& column() const { return column_; }
  [[nodiscard]] const TickScale& scale() const { return scale_; }

  /// Reads the rows [row, row + n). Throws UnreadableRows.
  void read(std::uint64_t row, std::size_t n);

  struct Time {
    FineTicks ticks = 0;
    double slack = 0;  ///< see TickScale::slack()
  };
  /// Of row `row` + `i`. Throws UserError when the number is not finite, too large, or has lost precision though the
  /// URI does not allow rounding.
  [[nodiscard]] Time at(std::size_t i) const;
  /// The common case: whether all times are whole numbers, and whole ticks. Then product() is that of row `row` + `i`;
  /// nothing when it is negative or too large.
  [[nodiscard]] bool whole() const { return !column_.is_float() && scale_.factor() != 0; }
  [[nodiscard]] std::optional<Tick> product(std::size_t i) const;
  /// Throws UserError that names the dataset and row `row` + `i`.
  [[noreturn]] void reject(std::size_t i, const std::string& complaint) const;
  /// The number, for messages.
  [[nodiscard]] std::string text_of(std::size_t i) const;

 private:
  [[nodiscard]] Time float_at(std::size_t i) const;

  ColumnReader column_;
  TickScale scale_;
  std::uint64_t row_ = 0;
  std::vector<std::uint64_t> integers_;
  std::vector<double> doubles_;
};

}  // namespace eventloom
