#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "core/engine/live_inputs.hpp"
#include "core/engine/next_slices.hpp"
#include "core/engine/outboxes.hpp"
#include "core/engine/replay_pace.hpp"
#include "core/engine/role.hpp"
#include "core/engine/transfers.hpp"
#include "core/exchange/outbox.hpp"
#include "core/monitor/rank_record.hpp"
#include "formats/geometry.hpp"
#include "formats/offset_span.hpp"
#include "formats/slice_range.hpp"
#include "schedulers/scheduler.hpp"

namespace eventloom {

struct SourceRoleSettings {
  SliceGeometry geometry;
  SliceId first_slice;
  SliceSet finished;  ///< slices that are not sent
  std::uint32_t n_builders = 1;
  /// A source serves no builder more than this many slices ahead of its slowest one. This bounds the data that a source
  /// read sequentially must keep.
  std::uint64_t max_lead = 0;
  /// Messages that this rank's sources keep in flight; 0: see transfers_for().
  std::uint32_t transfers_in_flight = 0;
  /// Recorded time per real time; 0: as fast as possible. Does not apply to live sources.
  double speed = 0;
  LivePatience patience = {};
  /// Nanoseconds since the common start of all ranks, negative before it; required if the schedule has slots.
  std::function<std::int64_t()> since_start;
  /// Span of the time corrections of each source, by source number; empty: no corrections.
  std::vector<OffsetSpan> offsets = {};
  /// Indexed by builder: 0 if the sources on this rank do not serve it. Empty: all are served.
  std::vector<std::uint8_t> served;
};

/// Sends the data of the sources of one rank: asks the scheduler which builder to serve, and hands epoch buffers to the
/// outboxes, one per builder, which all sources of the rank share.
class SourceRole final : public Role {
 public:
  struct LocalSource {
    SourceId id;
    std::unique_ptr<Source> stream;
    LiveStream* live = nullptr;  ///< `stream` if it is live, otherwise null
  };
  SourceRole(SourceRoleSettings settings, Scheduler& scheduler, std::vector<LocalSource> sources,
             std::vector<Outbox> outboxes);

  std::size_t do_work(SteadyTime now) override;
  [[nodiscard]] bool done() const override { return ended_ == streams_.size(); }
  bool make_room() override;
  /// Start of the next slot that a transfer waits for, if the schedule has slots.
  [[nodiscard]] SteadyTime due() const override { return due_; }

  /// Begins no further slice, until pause_at() or stop_at() sets the slice up to which to continue, or resume() lifts
  /// all limits.
  void freeze() { frozen_ = true; }
  /// One past the highest slice that any source on this rank has begun to send.
  [[nodiscard]] SliceId begun_end() const;
  /// The sources begin no slice at or after `slice`, which is at least begun_end(), until resume() or stop_at().
  void pause_at(SliceId slice);
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
  /// Whether stop_at() has cut off data of a source, or may have; cut_off_recorded(): only sources that are not live.
  [[nodiscard]] bool cut_off() const;
  [[nodiscard]] bool cut_off_recorded() const;
  /// Whether transfers wait for their time: by `speed`, by slots, or because sources are live.
  [[nodiscard]] bool keeps_a_pace() const { return pace_.speed() > 0 || scheduler_.slot_ns() != 0 || live_.any(); }

  /// Whether the last turn sent anything, and only the builders limit the rate.
  [[nodiscard]] bool sends_at_full_rate() const { return sent_ && !keeps_a_pace(); }

  [[nodiscard]] const LiveInputs& live() const { return live_; }
  [[nodiscard]] LiveInputs& live() { return live_; }

  /// Sums over the sources on this rank: what was sent, late transfers, hits read, anomalies.
  [[nodiscard]] Counters counters() const;
  /// Adds the counts of each source on this rank, keyed by its number.
  void add_counts(std::map<std::uint32_t, SourceCounts>& counts) const;
  /// Remarks of the sources on this rank at the end, keyed by source number; see Source::remarks().
  void add_remarks(std::map<std::uint32_t, std::vector<std::string>>& remarks) const;
  /// Adds the current values of all of the above, the bytes sent by each source, and the links to the builders.
  void add_to(RankRecord& record) const;
  /// Slices, counted from the first, that all sources on this rank have sent; and how many there will be,
  /// estimated from the share of the inputs read until it is known. Returns std::nullopt without an estimate.
  [[nodiscard]] std::uint64_t slices_sent() const;
  [[nodiscard]] std::optional<std::uint64_t> slices_expected() const;

 private:
  static constexpr Epoch kNoEpoch = std::numeric_limits<Epoch>::max();

  struct Stream {
    LocalSource source;
    OffsetSpan offsets;               ///< span of its time corrections
    SliceId begin;                    ///< recordings: the first slice with data
    std::optional<std::size_t> live;  ///< its index in LiveInputs
    NextSlices next;
    std::vector<SliceId> from;         ///< slice from which to search for the next, by builder
    SliceId begun_end;                 ///< one past the highest slice of which anything was sent
    SliceRange gap;                    ///< the last gap found: the source has no data in it
    std::vector<Damage> gap_damage;    ///< empty, or the damage that contains the gap
    SliceId claims_end;                ///< claims before it are reflected in `next`
    std::vector<std::uint8_t> ready;   ///< indexed by builder; used only if looks_at_all()
    std::optional<BuilderId> waiting;  ///< next to be served, once fewer messages are in flight
    std::uint64_t start = 0;           ///< see SourceView
    Transfers transfers;
    std::uint64_t bytes = 0;          ///< total size of its messages
    std::uint64_t messages = 0;       ///< messages with data
    bool after_gap = false;           ///< slots: still to decide whether to skip those of the gap
    std::int64_t left_out_ns = 0;     ///< slots: whole cycles skipped in gaps, less those added by pauses
    std::optional<SliceId> data_end;  ///< one past the last slice with data, once known
    std::vector<Damage> tail_damage;  ///< damage after the end: none or one record
    SliceId send_end;                 ///< one past the last slice to send, as currently known
    Epoch run_end = kNoEpoch;         ///< one past the last epoch that is part of the run, in times as recorded
    std::vector<std::uint8_t> told_end;
    bool ended = false;
  };
  /// The message that an outbox is sending; owns the damage records that the outbox reads.
  struct UnderWay {
    Stream* stream = nullptr;
    SliceId slice;
    SliceData data;
    std::vector<std::byte> clipped;  ///< the last epoch buffer, if the run ends inside it
  };

  std::size_t serve(Stream& stream);
  bool pump(std::size_t builder);
  void update_transfers();
  [[nodiscard]] bool is_full(const Stream& stream) const;
  void learn_claims(Stream& stream);
  void find_next(Stream& stream, std::size_t builder);
  [[nodiscard]] SliceId lowest(const Stream& stream) const;
  [[nodiscard]] bool looks_at_all(const Stream& stream) const;
  void look_at_all(Stream& stream);
  bool still_waits(Stream& stream);
  [[nodiscard]] std::function<bool(BuilderId)> readiness(Stream& stream);
  [[nodiscard]] bool may_go(Stream& stream, std::size_t builder, SliceId lowest);
  [[nodiscard]] bool is_due(const Stream& stream, SliceId slice);
  [[nodiscard]] double recorded_ns(SliceId end) const;
  [[nodiscard]] std::int64_t slot_begin(const Stream& stream, SliceId slice) const;
  void leave_out_slots(Stream& stream, SliceId slice);
  void move_slots(Stream& stream) const;
  [[nodiscard]] SliceId end_now(const Stream& stream) const { return std::min(stream.send_end, pause_); }
  [[nodiscard]] EpochRange sent_epochs(const Stream& stream, SliceId slice) const;
  [[nodiscard]] Epoch first_of_run(const Stream& stream) const;
  [[nodiscard]] std::int64_t lead(const Stream& stream) const;
  void clip(const Stream& stream, UnderWay& under_way) const;
  void count_transfer(const Stream& stream, SliceId slice);
  [[nodiscard]] bool serves(std::size_t builder) const {
    return settings_.served.empty() || settings_.served[builder] != 0;
  }
  bool send(Stream& stream, BuilderId builder);
  UnderWay& begin_message(Stream& stream, BuilderId builder);
  bool collect(const Stream& stream, UnderWay& under_way);
  [[nodiscard]] bool continues_beyond(const Damage& damage, EpochRange sent) const;
  void find_gap(Stream& stream, const UnderWay& under_way);
  [[nodiscard]] SourceState state_of(const Stream& stream) const;
  [[nodiscard]] std::uint64_t hits_so_far(const Stream& stream) const;
  [[nodiscard]] std::optional<std::uint64_t> expected_end(const Stream& stream) const;
  void start_message(Stream& stream, BuilderId builder);
  void learn_end(Stream& stream);
  [[nodiscard]] SliceId told_end(const Stream& stream) const;
  std::size_t send_ends(Stream& stream);
  void release_sent();

  SourceRoleSettings settings_;
  Scheduler& scheduler_;
  ReplayPace pace_;
  LiveInputs live_;
  std::vector<Stream> streams_;
  Outboxes outboxes_;
  std::vector<UnderWay> under_way_;  ///< indexed by builder
  std::size_t ended_ = 0;
  bool frozen_ = false;
  bool sent_ = false;              ///< whether the last turn did any work
  Stream* full_ = nullptr;         ///< last turn's stream held back by the limit of messages in flight
  std::size_t under_way_now_ = 0;  ///< messages in flight, of all sources
  SteadyTime now_{};
  SteadyTime due_ = SteadyTime::max();
  SliceId pause_ = kNoSlice;      ///< one past the last slice to send while paused
  SliceId stop_ = kNoSlice;       ///< one past the last slice to send, once asked to stop
  std::int64_t since_start_ = 0;  ///< slots: current time
  std::uint64_t late_transfers_ = 0;
  Message message_;
};

}  // namespace eventloom
