#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/dataflow/event_sink.hpp"
#include "core/runtime/message_limit.hpp"
#include "core/runtime/metrics.hpp"
#include "formats/slice_set.hpp"
#include "io/event_files/lmd_event_maker.hpp"
#include "io/serve/mbs_sender_packer.hpp"
#include "io/serve/mbs_tap.hpp"

namespace eventloom {

/// Serves the events of one writer to MBS clients, as LMD events. Costs next to nothing while there is no client.
class EventTap {
 public:
  /// Listens from here on. Throws UserError.
  EventTap(const MbsClientsSettings& settings, LmdEventMaker events);

  [[nodiscard]] const std::string& address() const { return server_.address(); }
  /// The events of a slice, numbered from 1 over all slices of this tap, whether anybody gets them or not.
  void take(const BuiltSlice& slice);
  /// Call often: events that have waited long enough are sent, though their buffer is not full.
  void turn();
  /// No more events follow: see MbsTap.
  void end();
  void join() { server_.join(); }
  /// Adds Account::tap.
  void add_to(Counters& counters) const;

 private:
  void pack(const LmdEvent& event, Tick time);
  void give(MbsGroupPtr group);

  LmdEventMaker events_;
  MbsPacker packer_;
  MbsTap server_;
  std::uint64_t taken_ = 0;    ///< events
  MessageLimit too_large_;     ///< events
  std::int64_t begun_at_ = 0;  ///< when the packer began its group, ns of the steady clock
};

/// A writer's events, tapped.
class TappedSink final : public EventSink {
 public:
  /// Slices in `finished` have been written, and served, by an earlier invocation. All must outlive this.
  TappedSink(EventSink& writer, EventTap& tap, const SliceSet& finished)
      : writer_(writer), tap_(tap), finished_(finished) {}
  void write(const BuiltSlice& slice) override;

 private:
  EventSink& writer_;
  EventTap& tap_;
  const SliceSet& finished_;
};

}  // namespace eventloom
