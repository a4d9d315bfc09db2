#include "io/hdf5_input/time_numbers.hpp"

#include <cmath>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

void TimeNumbers::read(std::uint64_t row, std::size_t n) {
  row_ = row;
  if (column_.is_float()) {
    column_.read(row, n, doubles_);
  } else {
    column_.read(row, n, integers_);
  }
}

TimeNumbers::TimeNumbers(ColumnReader column, TickScale scale, ClockTurns turns, TimeSign sign)
    : column_(std::move(column)), scale_(std::move(scale)), turns_(std::move(turns)), sign_(sign) {
  if (!turns_.any() || !column_.is_float()) return;
  throw UserError("'" + column_.name() +
                  "': bits= is the width of a whole number, and these are floating-point numbers");
}

std::optional<Tick> TimeNumbers::product(std::size_t i) const {
  const auto number = integers_[i];
  const bool negative = column_.is_signed() && static_cast<std::int64_t>(number) < 0;
  Tick ticks = 0;
  if (negative || __builtin_mul_overflow(number, scale_.factor(), &ticks.value)) return std::nullopt;
  return ticks;
}

TimeNumbers::Time TimeNumbers::at(std::size_t i, std::uint32_t channel) {
  if (column_.is_float()) return float_at(i);
  if (turns_.any()) {
    const auto extended = turns_.extend(integers_[i], channel);
    if (!extended) reject(i, turns_.defect(integers_[i], channel));
    integers_[i] = *extended;
  }
  const auto number = integers_[i];
  const bool negative = column_.is_signed() && static_cast<std::int64_t>(number) < 0;
  const auto time = scale_.ratio().fine(negative ? -number : number, negative != (sign_ == TimeSign::negated));
  if (!time) reject(i, scale_.range_defect(text_of(i)));
  return {*time, 0};
}

TimeNumbers::Time TimeNumbers::float_at(std::size_t i) const {
  const double value = doubles_[i];
  const auto digits = column_.digits();
  if (!std::isfinite(value)) reject(i, fmt::format("the time {} is not a finite number; leave such rows out", value));
  const auto time = scale_.ratio().fine(sign_ == TimeSign::negated ? -value : value);
  if (!time) reject(i, scale_.range_defect(text_of(i)));
  if (scale_.lacks_precision(value, digits)) reject(i, scale_.coarse_defect(value, digits));
  if (scale_.rounding() == Rounding::nearest) return {*time, 0};
  return {*time, scale_.slack(scale_.spacing(value, digits))};
}

std::string TimeNumbers::text_of(std::size_t i) const {
  if (column_.is_float()) return fmt::format("{}", doubles_[i]);
  return column_.is_signed() ? std::to_string(static_cast<std::int64_t>(integers_[i])) : std::to_string(integers_[i]);
}

void TimeNumbers::reject(std::size_t i, const std::string& defect) const {
  throw UserError("'" + column_.name() + "' row " + std::to_string(row_ + i) + ": " + defect);
}

}  // namespace eventloom
