#include "io/hdf5_input/time_column.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "formats/utc_time.hpp"
#include "io/hdf5_input/pulse_times.hpp"
#include "io/hdf5_input/time_unit.hpp"
#include "io/recorded/clock_unit.hpp"
#include "io/recorded/negative_time.hpp"
#include "io/recorded/origin_key.hpp"
#include "io/recorded/time_pair.hpp"
#include "io/uri/stream_shift.hpp"

namespace eventloom {

namespace {

TimeNumbers open_numbers(const SourceUri& uri, const std::string& path, std::uint64_t tick_ps) {
  ValueColumn values(ColumnReader(uri.path(), path));
  TimeNumbers::Scales scales(uri, [&](const SourceUri& unit) { return time_scale_of(unit, values, tick_ps); });
  return {std::move(values), std::move(scales), uri.has("coarse") ? ClockTurns() : ClockTurns(uri),
          subtracts_time(uri) ? TimeSign::negated : TimeSign::as_stored};
}

/// `bits=` refers to the coarse dataset if there is one.
std::optional<TimeNumbers> open_coarse(const SourceUri& uri, const std::string& path, const ColumnReader& fine,
                                       std::uint64_t tick_ps) {
  if (coarse_column(uri).empty()) return std::nullopt;
  ValueColumn values(ColumnReader(uri.path(), path));
  values.column().require_rows_of(fine);
  TimeNumbers::Scales scales(uri.with("unit", uri.get("coarse-unit", "")),
                             [&](const SourceUri& unit) { return time_scale_of(unit, values, tick_ps); });
  return TimeNumbers(std::move(values), std::move(scales), ClockTurns(uri));
}

FineTicks fine_time(const SourceUri& uri, Attoseconds time, std::uint64_t tick_ps) {
  const auto fine = fine_of(time, tick_ps);
  if (!fine) uri.refuse("the origin of its times is too far from tick 0");
  return *fine;
}

/// The time that becomes tick 0, relative to the reference of the file's numbers: `start`, or else 1970.
FineTicks begin_of(const SourceUri& uri, const std::optional<UtcTime>& start, std::uint64_t tick_ps) {
  StreamHeader header;
  header.base.tick_ps = tick_ps;
  const FineTicks offset = FineTicks{StreamShift(uri, header).offset()} << kFineBits;
  const auto origin = origin_of(uri, tick_ps).value_or(OriginKey{});
  return fine_time(uri, origin.at - (start ? attoseconds_of(*start) : 0), tick_ps) - offset;
}

}  // namespace

TimeColumn::TimeColumn(const SourceUri& uri, const std::string& path, const std::string& coarse_path,
                       std::uint64_t tick_ps)
    : numbers_(open_numbers(uri, path, tick_ps)),
      coarse_(open_coarse(uri, coarse_path, numbers_.column(), tick_ps)),
      pulses_(PulseTimes::count_from_pulses(path) ? std::make_unique<PulseTimes>(uri, path, numbers_.column(), tick_ps)
                                                  : nullptr),
      shifted_(uri.has("origin") || uri.has("offset")),
      numbered_(uri.get_yes("numbered")),
      begin_(begin_of(uri,
                      pulses_ ? pulses_->start() : reference_of(uri, (coarse_ ? *coarse_ : numbers_).column(), tick_ps),
                      tick_ps)) {
  if (pulses_ && numbers_.turns().any())
    uri.refuse("times that count from pulses do not wrap around: omit bits= and modulus=");
  if (pulses_ && coarse_) uri.refuse("times that count from pulses have no coarse ones: omit coarse=");
}

TimeColumn::~TimeColumn() = default;

std::vector<std::string> TimeColumn::companions(const std::string& time) {
  if (!PulseTimes::count_from_pulses(time)) return {};
  return {PulseTimes::index_of(time), PulseTimes::zero_of(time)};
}

void TimeColumn::load(std::uint64_t row, std::size_t n, LostRows& lost) {
  row_ = row;
  for (auto* numbers : {&numbers_, coarse_ ? &*coarse_ : nullptr}) {
    if (numbers == nullptr) continue;
    numbers->read(row, n);
    numbers->values().mark(lost);
  }
}

void TimeColumn::read(std::span<const std::uint32_t> channels, std::vector<Tick>& out, LostRows& lost) {
  numbers_.unwrap(channels, lost);
  if (coarse_) coarse_->unwrap(channels, lost);
  const bool simple = !pulses_ && !coarse_ && begin_ == 0 && numbers_.whole();
  const auto first = out.size();
  out.resize(first + channels.size());
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (lost[i]) continue;
    auto time = simple ? numbers_.product(i) : std::nullopt;
    if (!time) time = tick_or_bad(i, channels[i], lost);
    if (time) {
      out[first + i] = *time;
    } else {
      lost.mark_untimed(i);
    }
  }
}

std::uint64_t TimeColumn::piece_end(std::uint64_t row) const {
  const auto end = column().piece_end(row);
  return coarse_ ? std::min(end, coarse_->column().piece_end(row)) : end;
}

/// Each of the two is rounded down to fine ticks, so that a whole or half tick may fall short by one of these.
void TimeColumn::add_coarse(std::size_t i, std::uint32_t channel, TimeNumbers::Time& time) {
  constexpr double kRoundedDown = 2.0 / static_cast<double>(kFineTick);
  const auto coarse = coarse_->at(i, channel);
  time.ticks += coarse.ticks + (numbers_.scale().rounding() == Rounding::nearest ? 1 : 0);
  time.slack = std::max(time.slack + coarse.slack, kRoundedDown);
}

/// Returns false for a hit whose pulse has no time, or that has no pulse.
bool TimeColumn::add_pulse(std::size_t i, TimeNumbers::Time& time, LostRows& lost) {
  const auto pulse = pulses_->at(row_ + i);
  if (!pulse) {
    ++before_pulses_;
    return false;
  }
  if (pulses_->lacks_time()) {
    lost.mark(i, pulses_->name());
    return false;
  }
  longest_ = std::max(longest_, time.ticks);
  time.ticks += pulse->ticks;
  time.slack += pulse->slack;
  return true;
}

/// Likewise, where a number that is no time makes a bad row.
std::optional<Tick> TimeColumn::tick_or_bad(std::size_t i, std::uint32_t channel, LostRows& lost) {
  try {
    return tick(i, channel, lost);
  } catch (const std::invalid_argument& e) {
    lost.mark_bad(i, e.what());
    return std::nullopt;
  }
}

/// Returns std::nullopt for a hit without a time.
std::optional<Tick> TimeColumn::tick(std::size_t i, std::uint32_t channel, LostRows& lost) {
  const auto* const scale = numbers_.scale_of(channel);
  if (scale == nullptr) {
    lost.mark_bad(i, fmt::format("{}channel {} has no unit in unit=", numbers_.values().place(i), channel));
    return std::nullopt;
  }
  auto time = numbers_.at(i, channel);
  if (coarse_) add_coarse(i, channel, time);
  if (pulses_ && !add_pulse(i, time, lost)) return std::nullopt;
  const auto whole = scale->whole(time.ticks - begin_, time.slack);
  if (whole && *whole >= 0 && *whole <= FineTicks{std::numeric_limits<std::uint64_t>::max()})
    return Tick(static_cast<std::uint64_t>(*whole));
  if (!whole || *whole > 0 || !shifted_) reject(i, whole, *scale);
  ++before_tick_0_;
  return std::nullopt;
}

/// `time`: in ticks; std::nullopt if it is no whole number of them.
void TimeColumn::reject(std::size_t i, std::optional<FineTicks> time, const TickScale& scale) const {
  const char* joint = numbers_.sign() == TimeSign::negated ? " steps less " : " steps and ";
  const auto text = (coarse_ ? coarse_->values().text(i) + joint : "") + numbers_.values().text(i);
  if (!time) numbers_.ask_for_keys(i, scale.defect(text));
  if (*time > 0) numbers_.reject(i, scale.range_defect(text));
  const auto& counter = coarse_ ? *coarse_ : numbers_;
  numbers_.reject(i, "the time " + text + " is negative: " +
                         negative_time_advice(counter.most_negative(), counter.number_bits(), numbered_));
}

std::optional<RawClock> TimeColumn::raw_clock() const {
  if (pulses_) return std::nullopt;
  return (coarse_ ? *coarse_ : numbers_).raw_clock(begin_);
}

Tick TimeColumn::longest_since_pulse() const {
  constexpr FineTicks kMost = std::numeric_limits<std::uint64_t>::max();
  return Tick(static_cast<std::uint64_t>(std::min((longest_ + kFineTick - 1) >> kFineBits, kMost)));
}

void TimeColumn::report_untimed(const std::string& source) {
  if (const auto n = std::exchange(before_pulses_, 0); n != 0) {
    log::error("{}: {} hits come before the first pulse that event_index has: they are dropped (untimed)", source, n);
  }
  if (const auto n = std::exchange(before_tick_0_, 0); n != 0) {
    log::error("{}: with this origin and offset {} hits have no time from tick 0 on: they are dropped (untimed)",
               source, n);
  }
}

}  // namespace eventloom
