#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "schedulers/scheduler.hpp"

namespace eventloom {

/// The slots of one source, if the schedule has any. `now`, like all times: ns since the common start.
class SourceSlots {
 public:
  /// `max_lead`: see SourceRoleSettings. `scheduler` must outlive this object.
  SourceSlots(const Scheduler& scheduler, SourceId source, std::uint64_t max_lead)
      : scheduler_(scheduler), source_(source), max_lead_(max_lead) {}

  [[nodiscard]] std::int64_t begin_of(SliceId slice) const {
    return static_cast<std::int64_t>(scheduler_.start_ns(source_, slice)) - left_out_ns_;
  }
  /// Whether to leave_out() slots before the next slice.
  [[nodiscard]] bool after_gap() const { return after_gap_; }
  [[nodiscard]] std::uint64_t late_transfers() const { return late_transfers_; }

  /// A slice has been sent, or a gap that begins with it.
  void count(SliceId slice, bool is_gap, std::int64_t now) {
    const auto slot = static_cast<std::int64_t>(scheduler_.slot_ns());
    if (slot == 0) return;
    after_gap_ = after_gap_ || is_gap;
    if (now > begin_of(slice) + slot) ++late_transfers_;
  }

  /// The builders wait for the first slice after a gap. Unless other sources fill the gap, its slot is far ahead: then
  /// it moves to an equivalent slot, a whole number of cycles earlier.
  void leave_out(SliceId slice, std::int64_t now) {
    after_gap_ = false;
    const auto lead = begin_of({slice.value + max_lead_}) - begin_of(slice);
    const auto wait = begin_of(slice) - now;
    const auto cycle = static_cast<std::int64_t>(scheduler_.cycle_ns());
    if (wait > lead && cycle != 0) left_out_ns_ += wait / cycle * cycle;
  }

  /// Slices of `next` before `end` whose slots lay in a pause move to equivalent slots, a whole number of cycles later.
  void move(std::span<const SliceId> next, SliceId end, std::int64_t now) {
    std::int64_t late = 0;
    for (const SliceId slice : next) {
      if (slice < end) late = std::max(late, now - begin_of(slice));
    }
    const auto cycle = static_cast<std::int64_t>(scheduler_.cycle_ns());
    if (cycle != 0) left_out_ns_ -= (late + cycle - 1) / cycle * cycle;
  }

 private:
  const Scheduler& scheduler_;
  SourceId source_;
  std::uint64_t max_lead_;
  bool after_gap_ = false;
  std::int64_t left_out_ns_ = 0;  ///< whole cycles skipped in gaps, less those added by pauses
  std::uint64_t late_transfers_ = 0;
};

}  // namespace eventloom
