#include "io/hdf5_input/time_column.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "formats/utc_time.hpp"
#include "io/hdf5_input/pulse_times.hpp"
#include "io/hdf5_input/time_unit.hpp"
#include "io/recorded/clock_unit.hpp"
#include "io/recorded/origin_key.hpp"
#include "io/recorded/time_pair.hpp"
#include "io/uri/stream_shift.hpp"

namespace eventloom {

namespace {

TimeNumbers open_numbers(const SourceUri& uri, const std::string& path, std::uint64_t tick_ps) {
  ColumnReader column(uri.path(), path);
  auto scale = time_scale_of(uri, column, tick_ps);
  return {std::move(column), std::move(scale), uri.has("coarse") ? ClockTurns() : ClockTurns(uri),
          subtracts_time(uri) ? TimeSign::negated : TimeSign::as_stored};
}

/// `bits=` refers to the coarse dataset if there is one.
std::optional<TimeNumbers> open_coarse(const SourceUri& uri, const std::string& path, const ColumnReader& fine,
                                       std::uint64_t tick_ps) {
  if (coarse_column(uri).empty()) return std::nullopt;
  ColumnReader column(uri.path(), path);
  if (column.size() != fine.size()) {
    throw UserError("'" + column.name() + "' has " + std::to_string(column.size()) + " rows, but '" + fine.name() +
                    "' has " + std::to_string(fine.size()));
  }
  auto scale = time_scale_of(uri.with("unit", uri.get("coarse-unit", "")), column, tick_ps);
  return TimeNumbers(std::move(column), std::move(scale), ClockTurns(uri));
}

FineTicks in_range(const SourceUri& uri, Attoseconds time, std::uint64_t tick_ps) {
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
  return in_range(uri, origin.at - (start ? attoseconds_of(*start) : 0), tick_ps) - offset;
}

}  // namespace

TimeColumn::TimeColumn(const SourceUri& uri, const std::string& path, const std::string& coarse_path,
                       std::uint64_t tick_ps)
    : numbers_(open_numbers(uri, path, tick_ps)),
      coarse_(open_coarse(uri, coarse_path, numbers_.column(), tick_ps)),
      pulses_(PulseTimes::count_from_pulses(path) ? std::make_unique<PulseTimes>(uri, path, numbers_.column(), tick_ps)
                                                  : nullptr),
      shifted_(uri.has("origin") || uri.has("offset")),
      begin_(begin_of(uri, pulses_ ? pulses_->start() : std::nullopt, tick_ps)) {
  if (pulses_ && numbers_.turns().any())
    uri.refuse("times that count from pulses do not wrap around: omit bits= and modulus=");
  if (pulses_ && coarse_) uri.refuse("times that count from pulses have no coarse ones: omit coarse=");
  column().require_written();
  if (coarse_) coarse_->column().require_written();
}

TimeColumn::~TimeColumn() = default;

std::vector<std::string> TimeColumn::companions(const std::string& time) {
  if (!PulseTimes::count_from_pulses(time)) return {};
  return {PulseTimes::index_of(time), PulseTimes::zero_of(time)};
}

void TimeColumn::load(std::uint64_t row, std::size_t n, LostRows& lost) {
  row_ = row;
  numbers_.read(row, n);
  numbers_.mark(lost);
  if (!coarse_) return;
  coarse_->read(row, n);
  coarse_->mark(lost);
}

void TimeColumn::read(std::span<const std::uint32_t> channels, std::vector<Tick>& out, std::vector<bool>& untimed,
                      LostRows& lost) {
  numbers_.unwrap(channels, lost);
  if (coarse_) coarse_->unwrap(channels, lost);
  const bool simple = !pulses_ && !coarse_ && begin_ == 0 && numbers_.whole();
  const auto first = out.size();
  out.resize(first + channels.size());
  untimed.resize(first + channels.size());
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (lost.any() && lost[i]) continue;
    auto time = simple ? numbers_.product(i) : std::nullopt;
    if (!time) time = tick(row_ + i, i, channels[i]);
    if (time) {
      out[first + i] = *time;
    } else if (pulses_ && pulses_->lacks_time()) {
      lost.mark(i, pulses_->name());
    } else {
      untimed[first + i] = true;
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

/// Returns std::nullopt for a hit without a time.
std::optional<Tick> TimeColumn::tick(std::uint64_t row, std::size_t i, std::uint32_t channel) {
  auto time = numbers_.at(i, channel);
  if (coarse_) add_coarse(i, channel, time);
  if (pulses_) {
    const auto pulse = pulses_->at(row);
    if (!pulse) {
      ++before_pulses_;
      return std::nullopt;
    }
    if (pulses_->lacks_time()) return std::nullopt;
    longest_ = std::max(longest_, time.ticks);
    time.ticks += pulse->ticks;
    time.slack += pulse->slack;
  }
  const auto joined = [this] { return numbers_.sign() == TimeSign::negated ? " steps less " : " steps and "; };
  const auto text = [&] { return (coarse_ ? coarse_->text_of(i) + joined() : "") + numbers_.text_of(i); };
  const auto whole = numbers_.scale().whole(time.ticks - begin_, time.slack);
  if (whole && *whole < 0) {
    if (!shifted_) {
      numbers_.reject(i, "the time " + text() +
                             " is negative: say which time becomes tick 0, such as origin=-1ms, the same for all files "
                             "of a run; or, if the times are a counter with a sign that starts again, its width: "
                             "bits=32");
    }
    ++before_tick_0_;
    return std::nullopt;
  }
  if (!whole) numbers_.reject(i, numbers_.scale().defect(text()));
  if (*whole > FineTicks{std::numeric_limits<std::uint64_t>::max()})
    numbers_.reject(i, numbers_.scale().range_defect(text()));
  return Tick(static_cast<std::uint64_t>(*whole));
}

std::optional<RawClock> TimeColumn::raw_clock() const {
  if (pulses_) return std::nullopt;
  return (coarse_ ? *coarse_ : numbers_)
      .scale()
      .raw_clock(-static_cast<double>(begin_) / static_cast<double>(kFineTick));
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
