#include "io/hdf5_input/time_numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

/// Tests the exponents, which needs no branch per number, unlike std::isfinite.
bool all_finite(std::span<const double> numbers) {
  constexpr std::uint64_t kExponent = 0x7ff0'0000'0000'0000;
  bool finite = true;
  for (const double number : numbers) finite &= (std::bit_cast<std::uint64_t>(number) & kExponent) != kExponent;
  return finite;
}

}  // namespace

void TimeNumbers::read(std::uint64_t row, std::size_t n) {
  row_ = row;
  missing_.clear();
  if (column_.is_float()) {
    column_.read(row, n, doubles_);
    if (!missing_values_.any() && all_finite(doubles_)) return;
    missing_.resize(n);
    missing_values_.mark(row, doubles_, missing_);
    for (std::size_t i = 0; i < n; ++i) {
      if (!std::isfinite(doubles_[i])) missing_[i] = true;
    }
  } else {
    column_.read(row, n, integers_);
    if (!missing_values_.any()) return;
    missing_.resize(n);
    missing_values_.mark(row, integers_, missing_);
  }
}

TimeNumbers::TimeNumbers(ColumnReader column, TimeScale scale, ClockTurns turns, TimeSign sign)
    : column_(std::move(column)),
      missing_values_(column_),
      scale_(std::move(scale)),
      turns_(std::move(turns)),
      sign_(sign) {}

std::optional<Tick> TimeNumbers::product(std::size_t i) const {
  const auto number = integers_[i];
  const bool negative = column_.is_signed() && static_cast<std::int64_t>(number) < 0;
  Tick ticks = 0;
  if (negative || __builtin_mul_overflow(number, scale().factor(), &ticks.value)) return std::nullopt;
  return ticks;
}

TimeNumbers::Time TimeNumbers::at(std::size_t i, std::uint32_t channel) {
  if (column_.is_float()) return turns_.any() ? unwrapped_at(i, channel) : float_at(i);
  auto number = integers_[i];
  bool negative = column_.is_signed() && static_cast<std::int64_t>(number) < 0;
  if (negative) number = -number;
  if (scale_.steps != 0) add_steps(i, number, negative);
  const auto time = scale().ratio().fine(number, negative != (sign_ == TimeSign::negated));
  if (!time) reject(i, scale().range_defect(text_of(i)));
  return with_offset(*time, 0);
}

/// Adds the steps of the scale to a number of this size and sign.
void TimeNumbers::add_steps(std::size_t i, std::uint64_t& size, bool& negative) const {
  const auto sum = (negative ? -FineTicks{size} : FineTicks{size}) + scale_.steps;
  negative = sum < 0;
  const auto wide = negative ? -sum : sum;
  if (wide > FineTicks{std::numeric_limits<std::uint64_t>::max()}) reject(i, scale().range_defect(text_of(i)));
  size = static_cast<std::uint64_t>(wide);
}

/// Both are rounded down to fine ticks, so that a whole or half tick may fall short by one of these.
TimeNumbers::Time TimeNumbers::with_offset(FineTicks time, double slack) const {
  constexpr double kRoundedDown = 2.0 / static_cast<double>(kFineTick);
  if (scale_.offset == 0) return {time, slack};
  const FineTicks offset = scale_.offset + (scale().rounding() == Rounding::nearest ? 1 : 0);
  return {sign_ == TimeSign::negated ? time - offset : time + offset, std::max(slack, kRoundedDown)};
}

void TimeNumbers::unwrap(std::span<const std::uint32_t> channels, const LostRows& lost) {
  if (!turns_.any() || column_.is_float()) return;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (lost.any() && lost[i]) continue;
    const auto extended = extend(i, channels[i]);
    if (!extended) reject(i, turns_.defect(text_of(i), channels[i]));
    integers_[i] = *extended;
  }
}

/// The time of a counter, which is the whole part of the number.
TimeNumbers::Time TimeNumbers::unwrapped_at(std::size_t i, std::uint32_t channel) {
  const auto raw = float_at(i);
  const auto extended = extend(i, channel);
  if (!extended) reject(i, turns_.defect(text_of(i), channel));
  auto number = *extended;
  bool negative = false;
  if (scale_.steps != 0) add_steps(i, number, negative);
  const bool negated = sign_ == TimeSign::negated;
  const auto time = scale().ratio().fine(number, negative != negated);
  if (!time) reject(i, scale().range_defect(text_of(i)));
  const double part = doubles_[i] - std::floor(doubles_[i]);
  return with_offset(*time + scale().ratio().fine(negated ? -part : part).value_or(0), raw.slack);
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
  const auto time = scale().ratio().fine(sign_ == TimeSign::negated ? -value : value);
  if (!time) reject(i, scale().range_defect(text_of(i)));
  if (scale().lacks_precision(value, digits)) reject(i, scale().coarse_defect(value, digits));
  if (scale().rounding() == Rounding::nearest) return with_offset(*time, 0);
  return with_offset(*time, scale().slack(scale().spacing(value, digits)));
}

std::string TimeNumbers::text_of(std::size_t i) const {
  if (column_.is_float()) return fmt::format("{}", doubles_[i]);
  return column_.is_signed() ? std::to_string(static_cast<std::int64_t>(integers_[i])) : std::to_string(integers_[i]);
}

void TimeNumbers::reject(std::size_t i, const std::string& defect) const {
  throw UserError("'" + column_.name() + "' row " + std::to_string(row_ + i) + ": " + defect);
}

}  // namespace eventloom
