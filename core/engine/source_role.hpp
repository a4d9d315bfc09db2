#pragma once

#include <cstddef>
#include <vector>

#include "core/engine/role.hpp"
#include "core/engine/source_report.hpp"
#include "core/engine/source_stream.hpp"

namespace eventloom {

/// Sends the data of the sources of one rank: asks the scheduler which builder to serve, and hands epoch buffers to the
/// outboxes, one per builder, which all sources of the rank share.
class SourceRole final : public Role {
 public:
  SourceRole(SourceRoleSettings settings, Scheduler& scheduler, std::vector<LocalSource> sources,
             std::vector<Outbox> outboxes);

  std::size_t do_work(SteadyTime now) override;
  [[nodiscard]] bool done() const override;
  bool make_room() override;
  /// Start of the next slot that a transfer waits for, if the schedule has slots.
  [[nodiscard]] SteadyTime due() const override { return shared_.pace.due(); }

  /// Begins no further slice, until pause_at() or stop_at() sets the slice up to which to continue, or resume() lifts
  /// all limits.
  void freeze() { shared_.pace.freeze(); }
  /// One past the highest slice that any source on this rank has begun to send.
  [[nodiscard]] SliceId begun_end() const;
  /// The sources begin no slice at or after `slice`, which is at least begun_end(), until resume() or stop_at().
  void pause_at(SliceId slice) { shared_.pace.pause_at(slice); }
  /// Continues as if no time had passed since pause_at(): replays keep their pace, slots move by whole cycles. Live
  /// sources that filled up during the pause are no reason to give up others, see LiveInputs::resume().
  void resume();
  /// Sends recordings at this speed from now on, see SourceRoleSettings; delays are not caught up.
  void set_speed(double speed);
  /// The sources end before slice `stop`, which is at least begun_end().
  void stop_at(SliceId stop);
  /// Like stop_at(), but the data end there: no source sends data of slice `end` or later as the margin of earlier
  /// slices. None has done so yet if `end` is at least as far from begun_end() as margins reach.
  void end_at(SliceId end);

  /// The slices before it are on disk, see Advance::released.
  void safe_before(SliceId slice);

  /// Whether transfers wait for their time: by `speed`, by slots, or because sources are live.
  [[nodiscard]] bool keeps_a_pace() const { return shared_.pace.limits_rate() || shared_.live.any(); }
  /// Whether the last turn sent anything, and only the builders limit the rate.
  [[nodiscard]] bool sends_at_full_rate() const { return sent_ && !keeps_a_pace(); }
  [[nodiscard]] LiveInputs& live() { return shared_.live; }
  [[nodiscard]] SourceReport report() const { return {shared_, streams_}; }

 private:
  SharedBySources shared_;
  std::vector<SourceStream> streams_;
  bool sent_ = false;  ///< whether the last turn did any work
};

}  // namespace eventloom
