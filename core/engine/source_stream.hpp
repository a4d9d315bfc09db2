#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/engine/send_pace.hpp"
#include "core/engine/slice_cursor.hpp"
#include "core/engine/source_data.hpp"
#include "core/engine/source_messages.hpp"
#include "core/engine/source_slots.hpp"

namespace eventloom {

/// What the sources of one rank share.
struct SharedBySources {
  SharedBySources(SourceRoleSettings of_rank, Scheduler& schedule, std::size_t sources, std::vector<Outbox> outboxes)
      : settings(std::move(of_rank)),
        scheduler(schedule),
        pace(schedule, settings),
        live(settings.patience),
        messages(std::move(outboxes), sources, settings.transfers_in_flight, settings.lent) {}

  SourceRoleSettings settings;
  Scheduler& scheduler;
  SendPace pace;
  LiveInputs live;
  SourceMessages messages;
};

/// Sends one source: its slices in the order that the scheduler chooses, each as soon as it may go, then its end.
class SourceStream {
 public:
  /// The source with this number on its rank, see SourceMessages. `shared` must outlive this object.
  SourceStream(SharedBySources& shared, std::size_t number, LocalSource source);

  /// Sends what may go now, until the other sources should take their turn; returns the number of messages.
  std::size_t serve();
  /// Whether the next message waits for fewer in flight.
  [[nodiscard]] bool waits_for_room() const { return waiting_.has_value(); }
  /// Frees the data of slices that are sent and not on loan.
  void release_sent();
  /// Slots move by the time of a pause.
  void resume() { slots_.move(cursor_.all(), data_.send_end(), shared_.pace.since_start()); }
  /// See SourceRole.
  void stop_at(SliceId stop) { data_.stop_at(stop); }
  void end_at(SliceId end);
  void safe_before(SliceId slice) { data_.safe_before(slice); }

  [[nodiscard]] const SourceData& data() const { return data_; }
  [[nodiscard]] const SourceSlots& slots() const { return slots_; }
  [[nodiscard]] SliceId lowest() const { return cursor_.lowest(); }
  /// One past the highest slice of which data were sent.
  [[nodiscard]] SliceId begun_end() const { return begun_end_; }
  [[nodiscard]] bool ended() const { return ended_; }
  /// Its index in LiveInputs.
  [[nodiscard]] std::optional<std::size_t> live() const { return live_; }
  /// Total size of its messages.
  [[nodiscard]] std::uint64_t bytes() const { return shared_.messages.bytes(number_); }

 private:
  [[nodiscard]] SliceId end_now() const { return std::min(data_.send_end(), shared_.pace.end()); }
  [[nodiscard]] bool may_go(std::size_t builder, SliceId lowest) const;
  [[nodiscard]] bool keeps_ready() const { return live_ || shared_.pace.has_slots(); }
  void update_ready(std::size_t builder, SliceId lowest);
  [[nodiscard]] std::function<bool(BuilderId)> readiness() const;
  [[nodiscard]] std::optional<BuilderId> out_of_order() const;
  bool still_waits();
  bool send(BuilderId builder);
  SliceId return_loans(SliceId sent);
  std::size_t send_ends();

  SharedBySources& shared_;
  std::size_t number_;
  SourceData data_;
  SliceCursor cursor_;
  SourceSlots slots_;
  std::optional<std::size_t> live_;
  std::vector<std::uint8_t> ready_;   ///< indexed by builder; used only if keeps_ready()
  std::optional<BuilderId> waiting_;  ///< next to be served, once fewer messages are in flight
  std::uint64_t start_;               ///< see SourceView
  SliceId begun_end_;
  SliceId released_;                        ///< the data before this slice are released
  std::vector<std::uint8_t> reported_end_;  ///< indexed by builder
  bool ended_ = false;
};

}  // namespace eventloom
