#include <algorithm>

#include "core/dataflow/live_stream.hpp"
#include "core/engine/source_role.hpp"

namespace eventloom {

/// A slice may go once the time it took to record has passed (--speed), and once its slot has begun (slots).
bool SourceRole::is_due(const Stream& stream, SliceId slice) {
  if (!stream.live && !pace_.due(recorded_ns({slice.value + 1}))) return false;
  if (scheduler_.slot_ns() == 0) return true;
  const auto wait = slot_begin(stream, slice) - since_start_;
  if (wait > 0) due_ = std::min(due_, now_ + std::chrono::nanoseconds(wait));
  return wait <= 0;
}

/// Recorded time from the first slice to the beginning of `end`.
double SourceRole::recorded_ns(SliceId end) const {
  const double slice_ps =
      static_cast<double>(settings_.geometry.slice_ticks()) * static_cast<double>(settings_.geometry.base.tick_ps);
  return static_cast<double>(end.value - settings_.first_slice.value) * slice_ps / 1000;
}

void SourceRole::set_speed(double speed) {
  SliceId next = settings_.first_slice;
  for (const auto& stream : streams_) {
    if (!stream.live && lowest(stream) < stream.send_end) next = std::max(next, lowest(stream));
  }
  pace_.change(speed, recorded_ns({next.value + 1}));
}

std::int64_t SourceRole::slot_begin(const Stream& stream, SliceId slice) const {
  return static_cast<std::int64_t>(scheduler_.start_ns(stream.source.id, slice)) - stream.left_out_ns;
}

/// The builders wait for the first slice after a gap. Unless other sources fill the gap, its slot is far ahead: then it
/// moves to an equivalent slot, a whole number of cycles earlier.
void SourceRole::leave_out_slots(Stream& stream, SliceId slice) {
  stream.after_gap = false;
  const SliceId ahead{slice.value + settings_.max_lead};
  const auto lead = slot_begin(stream, ahead) - slot_begin(stream, slice);
  const auto wait = slot_begin(stream, slice) - since_start_;
  const auto cycle = static_cast<std::int64_t>(scheduler_.cycle_ns());
  if (wait > lead && cycle != 0) stream.left_out_ns += wait / cycle * cycle;
}

/// Transfers whose slots lay in a pause move to equivalent slots, a whole number of cycles later.
void SourceRole::move_slots(Stream& stream) const {
  std::int64_t late = 0;
  for (const SliceId slice : stream.next.all()) {
    if (slice < stream.send_end) late = std::max(late, since_start_ - slot_begin(stream, slice));
  }
  const auto cycle = static_cast<std::int64_t>(scheduler_.cycle_ns());
  if (cycle != 0) stream.left_out_ns -= (late + cycle - 1) / cycle * cycle;
}

void SourceRole::count_transfer(const Stream& stream, SliceId slice) {
  const auto slot = static_cast<std::int64_t>(scheduler_.slot_ns());
  if (slot != 0 && since_start_ > slot_begin(stream, slice) + slot) ++late_transfers_;
}

SliceId SourceRole::begun_end() const {
  SliceId end = settings_.first_slice;
  for (const auto& stream : streams_) end = std::max(end, stream.begun_end);
  return end;
}

void SourceRole::pause_at(SliceId slice) {
  frozen_ = false;
  pause_ = slice;
  pace_.pause();
}

void SourceRole::resume() {
  frozen_ = false;
  if (pause_ == kNoSlice) return;
  pause_ = kNoSlice;
  pace_.resume();
  for (auto& stream : streams_) move_slots(stream);
  live_.resume();
}

void SourceRole::stop_at(SliceId stop) {
  resume();
  stop_ = stop;
  live_.hurry();
  for (auto& stream : streams_) stream.send_end = std::min(stream.send_end, stop);
}

void SourceRole::end_at(SliceId end) {
  stop_at(end);
  const auto& geometry = settings_.geometry;
  for (auto& stream : streams_) {
    stream.run_end = all_corrected_before(geometry.owned_epochs(end).begin, stream.offsets, geometry.base.epoch_ticks);
    if (auto* live = stream.source.live) live->end_at(stream.run_end);
  }
}

bool SourceRole::cut_off() const {
  return std::ranges::any_of(
      streams_, [&](const Stream& s) { return told_end(s) != s.data_end || (s.live && live_.cut_short(*s.live)); });
}

bool SourceRole::cut_off_recorded() const {
  return std::ranges::any_of(streams_, [&](const Stream& s) { return !s.live && told_end(s) != s.data_end; });
}

}  // namespace eventloom
