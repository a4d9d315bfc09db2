#include "io/hdf5_input/time_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/runtime/error.hpp"

namespace eventloom {

std::optional<Tick> TimeNumbers::product(std::size_t i) const {
  Tick ticks = 0;
  const bool overflows = __builtin_mul_overflow(values_.integers()[i], scale().factor(), &ticks.value);
  return overflows || values_.is_negative(i) ? std::nullopt : std::optional(ticks);
}

RawClock TimeNumbers::raw_clock(FineTicks begin) const {
  const auto& first = scales_.first();
  auto clock = first.ticks.raw_clock(static_cast<double>(first.offset - begin) / static_cast<double>(kFineTick));
  clock.zero += static_cast<double>(first.steps) * clock.ticks;
  return clock;
}

TimeNumbers::Time TimeNumbers::at(std::size_t i, std::uint32_t channel) {
  const auto& scale = *scales_.of(channel);
  if (column().is_float()) return turns_.any() ? unwrapped_at(i, channel, scale) : float_at(i, scale);
  const auto number = values_.integers()[i];
  const bool negative = values_.is_negative(i);
  return with_offset(fine(i, negative ? -number : number, negative, scale), 0, scale);
}

FineTicks TimeNumbers::fine(std::size_t i, std::uint64_t size, bool negative, const TimeScale& scale) const {
  constexpr auto kMost = WideWhole{std::numeric_limits<std::uint64_t>::max()};
  const auto sum = (negative ? -WideWhole{size} : WideWhole{size}) + scale.steps;
  const auto steps = sum < 0 ? -sum : sum;
  const bool negated = (sum < 0) != (sign_ == TimeSign::negated);
  const auto time = steps > kMost ? std::nullopt : scale.ticks.ratio().fine(static_cast<std::uint64_t>(steps), negated);
  if (!time) reject(i, scale.ticks.range_defect(values_.text(i)));
  return *time;
}

/// Both are rounded down to fine ticks, so that a whole or half tick may fall short by one of these.
TimeNumbers::Time TimeNumbers::with_offset(FineTicks time, double slack, const TimeScale& scale) const {
  constexpr double kRoundedDown = 2.0 / static_cast<double>(kFineTick);
  if (scale.offset == 0) return {time, slack};
  const FineTicks offset = scale.offset + (scale.ticks.rounding() == Rounding::nearest ? 1 : 0);
  return {sign_ == TimeSign::negated ? time - offset : time + offset, std::max(slack, kRoundedDown)};
}

void TimeNumbers::unwrap(std::span<const std::uint32_t> channels, LostRows& lost) {
  if (!turns_.any() || column().is_float()) return;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (lost.marks_turn(i)) turns_.mark_turns(values_.is_negative(i) ? 1 : values_.integers()[i]);
    if (lost[i]) continue;
    const auto extended = extend(i, channels[i]);
    if (!extended) lost.mark_bad(i, values_.place(i) + turns_.defect(values_.text(i), channels[i]));
    values_.integers()[i] = extended.value_or(0);
  }
}

/// The time of a counter, which is the whole part of the number.
TimeNumbers::Time TimeNumbers::unwrapped_at(std::size_t i, std::uint32_t channel, const TimeScale& scale) {
  const auto raw = float_at(i, scale);
  const auto extended = extend(i, channel);
  if (!extended) reject(i, turns_.defect(values_.text(i), channel));
  const double number = values_.reals()[i];
  const double part = number - std::floor(number);
  const auto more = scale.ticks.ratio().fine(sign_ == TimeSign::negated ? -part : part).value_or(0);
  return with_offset(fine(i, *extended, false, scale) + more, raw.slack, scale);
}

std::optional<std::uint64_t> TimeNumbers::extend(std::size_t i, std::uint32_t channel) {
  constexpr double kMost = 0x1p63;
  if (column().is_float()) {
    const double whole = std::floor(values_.reals()[i]);
    if (std::abs(whole) >= kMost) return std::nullopt;
    return turns_.extend_signed(static_cast<std::int64_t>(whole), channel);
  }
  const auto number = values_.integers()[i];
  if (column().is_signed()) return turns_.extend_signed(static_cast<std::int64_t>(number), channel);
  return turns_.extend(number, channel);
}

TimeNumbers::Time TimeNumbers::float_at(std::size_t i, const TimeScale& scale) const {
  const double value = values_.reals()[i];
  const auto digits = column().digits();
  const auto& ticks = scale.ticks;
  const auto time = ticks.ratio().fine(sign_ == TimeSign::negated ? -value : value);
  if (!time) reject(i, ticks.range_defect(values_.text(i)));
  if (ticks.lacks_precision(value, digits)) ask_for_keys(i, ticks.coarse_defect(value, digits));
  const double slack = ticks.rounding() == Rounding::nearest ? 0 : ticks.slack(ticks.spacing(value, digits));
  return with_offset(*time, slack, scale);
}

std::uint64_t TimeNumbers::most_negative() const {
  constexpr double kMost = 0x1p62;
  std::int64_t least = -1;
  for (const auto number : values_.integers()) least = std::min(least, static_cast<std::int64_t>(number));
  for (const double number : values_.reals()) {
    least = std::min(least, static_cast<std::int64_t>(std::clamp(std::floor(number), -kMost, 0.0)));
  }
  return -static_cast<std::uint64_t>(least);
}

unsigned TimeNumbers::number_bits() const {
  constexpr unsigned kBitsPerByte = 8;
  return column().is_float() ? 0 : static_cast<unsigned>(column().number_bytes()) * kBitsPerByte;
}

void TimeNumbers::reject(std::size_t i, const std::string& defect) const {
  throw std::invalid_argument(values_.place(i) + defect);
}

void TimeNumbers::ask_for_keys(std::size_t i, const std::string& defect) const {
  throw UserError(values_.place(i) + defect);
}

}  // namespace eventloom
