#include "io/hdf5_input/pulse_times.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "core/runtime/error.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5_input/time_unit.hpp"

namespace eventloom {

namespace {

constexpr const char* kRows = "it must hold numbers of rows";

std::string beside(const std::string& path, const char* name) {
  return path.substr(0, path.find_last_of('/') + 1) + name;  // npos + 1 is 0
}

ColumnReader open_beside(const SourceUri& uri, const ColumnReader& events, const std::string& path) {
  if (has_object(open_for_reading(uri.path()).get(), path)) return {uri.path(), path};
  throw UserError("'" + events.name() + "': its times count from pulses, but there is no '" + path +
                  "': without it they are no times of the run");
}

TimeNumbers open_zero(const SourceUri& uri, const ColumnReader& events, const std::string& path,
                      std::uint64_t tick_ps) {
  ValueColumn values(open_beside(uri, events, path));
  TimeNumbers::Scales scales(uri, [&](const SourceUri& unit) { return pulse_scale_of(unit, values, tick_ps); });
  if (!scales.is_one()) uri.refuse("times that count from pulses have one unit: unit= cannot give units by channel");
  return {std::move(values), std::move(scales)};
}

std::optional<UtcTime> start_of(const ColumnReader& zero) {
  for (const char* name : {"offset", "start"}) {
    const auto text = zero.text_of(name);
    if (!text) continue;
    if (const auto time = parse_utc(*text)) return time;
    throw UserError("'" + zero.name() + "': its attribute " + name + "='" + *text +
                    "' is no time such as 2026-11-21T10:00:00Z, from which the pulses would count");
  }
  const auto stated = stated_reference(zero);
  return stated ? stated->time : std::nullopt;
}

}  // namespace

bool PulseTimes::count_from_pulses(const std::string& path) {
  constexpr std::array<std::string_view, 2> kNames = {"event_time_offset", "event_time_of_flight"};
  return std::ranges::find(kNames, std::string_view(path).substr(path.find_last_of('/') + 1)) != kNames.end();
}

std::string PulseTimes::index_of(const std::string& path) { return beside(path, "event_index"); }
std::string PulseTimes::zero_of(const std::string& path) { return beside(path, "event_time_zero"); }

PulseTimes::PulseTimes(const SourceUri& uri, const std::string& path, const ColumnReader& events, std::uint64_t tick_ps)
    : index_(open_beside(uri, events, index_of(path))),
      zero_(open_zero(uri, events, zero_of(path), tick_ps)),
      rows_(events.size()),
      start_(start_of(zero_.column())) {
  if (index_.is_float()) refuse(kRows);
  if (index_.unwritten().any()) refuse("some of its rows were never written");
  if (index_.size() != zero_.column().size()) {
    refuse("it has " + std::to_string(index_.size()) + " rows, but 'event_time_zero' has " +
           std::to_string(zero_.column().size()));
  }
  if (index_.size() == 0) {
    if (rows_ != 0) refuse("there are " + std::to_string(rows_) + " events, but no pulses");
    return;
  }
  index_.read(index_.size() - 1, 1, first_rows_, kRows);
  if (first_rows_.front() > rows_) {
    refuse("the last pulse begins with event " + std::to_string(first_rows_.front()) + ", but there are only " +
           std::to_string(rows_));
  }
  first_rows_.clear();
}

std::optional<TimeNumbers::Time> PulseTimes::at(std::uint64_t row) {
  for (;;) {
    if (next_ == first_rows_.size()) {
      if (block_ + next_ == index_.size()) return pulse_;
      next_block();
    }
    const auto first_row = first_rows_[next_];
    if (first_row < last_first_row_) {
      refuse("row " + std::to_string(block_ + next_) + ": " + std::to_string(first_row) + " follows " +
             std::to_string(last_first_row_) + ", but the events of pulses must follow each other");
    }
    if (first_row > row) return pulse_;
    last_first_row_ = first_row;
    lacks_ = zero_.values().lacks(next_);
    pulse_ = lacks_ ? TimeNumbers::Time() : time_of_pulse(next_);
    ++next_;
  }
}

/// All events of a pulse are lost if its time is.
TimeNumbers::Time PulseTimes::time_of_pulse(std::size_t i) {
  try {
    return zero_.at(i, 0);
  } catch (const std::invalid_argument& e) {
    throw UserError(e.what());
  }
}

void PulseTimes::next_block() {
  constexpr std::uint64_t kPulses = 65536;
  block_ += next_;
  next_ = 0;
  const auto n = static_cast<std::size_t>(std::min(kPulses, index_.size() - block_));
  try {
    index_.read(block_, n, first_rows_, kRows);
    zero_.read(block_, n);
  } catch (const UnreadableRows& e) {
    throw UserError("without their pulses events have no times: " + std::string(e.what()));
  }
}

void PulseTimes::refuse(const std::string& reason) const { throw UserError("'" + index_.name() + "': " + reason); }

}  // namespace eventloom
