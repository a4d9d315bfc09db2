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
    : column_(std::move(column)), scale_(std::move(scale)), turns_(std::move(turns)), sign_(sign) {}

std::optional<Tick> TimeNumbers::product(std::size_t i) const {
  const auto number = integers_[i];
  const bool negative = column_.is_signed() && static_cast<std::int64_t>(number) < 0;
  Tick ticks = 0;
  if (negative || __builtin_mul_overflow(number, scale_.factor(), &ticks.value)) return std::nullopt;
  return ticks;
}

TimeNumbers::Time TimeNumbers::at(std::size_t i, std::uint32_t channel) {
  if (turns_.any()) return unwrapped_at(i, channel);
  if (column_.is_float()) return float_at(i);
  const auto number = integers_[i];
  const bool negative = column_.is_signed() && static_cast<std::int64_t>(number) < 0;
  const auto time = scale_.ratio().fine(negative ? -number : number, negative != (sign_ == TimeSign::negated));
  if (!time) reject(i, scale_.range_defect(text_of(i)));
  return {*time, 0};
}

/// The time of a counter, which is the whole part of the number.
TimeNumbers::Time TimeNumbers::unwrapped_at(std::size_t i, std::uint32_t channel) {
  const auto raw = column_.is_float() ? float_at(i) : Time{};
  const auto extended = extend(i, channel);
  if (!extended) reject(i, turns_.defect(text_of(i), channel));
  const bool negated = sign_ == TimeSign::negated;
  const auto time = scale_.ratio().fine(*extended, negated);
  if (!time) reject(i, scale_.range_defect(text_of(i)));
  if (!column_.is_float()) return {*time, 0};
  const double part = doubles_[i] - std::floor(doubles_[i]);
  return {*time + scale_.ratio().fine(negated ? -part : part).value_or(0), raw.slack};
}

std::optional<std::uint64_t> TimeNumbers::extend(std::size_t i, std::uint32_t channel) {
  constexpr double kMost = 0x1p63;
  if (column_.is_float()) {
    const double whole = std::floor(doubles_[i]);
    if (std::abs(whole) >= kMost) return std::nullopt;
    return turns_.extend_signed(static_cast<std::int64_t>(whole), channel);
  }
  if (column_.is_signed()) return turns_.extend_signed(static_cast<std::int64_t>(integers_[i]), channel);
  return turns_.extend(integers_[i], channel);
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
