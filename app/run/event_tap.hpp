#pragma once

#include <cstdint>
#include <string>

#include "core/dataflow/event_sink.hpp"
#include "core/runtime/message_limit.hpp"
#include "core/runtime/metrics.hpp"
#include "formats/slice_set.hpp"
#include "io/event_files/lmd_event_maker.hpp"
#include "io/serve/mbs_sender_packer.hpp"
#include "io/serve/mbs_tap.hpp"

namespace eventloom {

/// Serves the events of one writer to MBS clients, as LMD events. Costs almost nothing while no client is connected.
class EventTap {
 public:
  /// Starts to listen. Throws UserError.
  EventTap(const MbsClientsSettings& settings, LmdEventMaker events);

  [[nodiscard]] const std::string& address() const { return server_.address(); }
  /// Serves the events of a slice. They are numbered from 1 over all slices of this tap, whether or not a client
  /// receives them.
  void take(const BuiltSlice& slice);
  /// Sends events that have waited long enough, even if their buffer is not full. Call often.
  void turn();
  /// Call after the last event; see MbsTap.
  void end();
  void join() { server_.join(); }
  /// Adds the counters of Account::tap.
  void add_to(Counters& counters) const;

 private:
  void pack(const LmdEvent& event, Tick time);
  void give(MbsGroupPtr group);

  LmdEventMaker events_;
  MbsPacker packer_;
  MbsTap server_;
  std::uint64_t taken_ = 0;    ///< events
  MessageLimit too_large_;     ///< events
  std::int64_t begun_at_ = 0;  ///< when the packer began its group, in ns of the steady clock
};

/// Passes events on to a writer and to its tap.
class TappedSink final : public EventSink {
 public:
  /// Slices in `finished` were written, and served, by an earlier invocation; they are not served again. All arguments
  /// must outlive this object.
  TappedSink(EventSink& writer, EventTap& tap, const SliceSet& finished)
      : writer_(writer), tap_(tap), finished_(finished) {}
  void write(const BuiltSlice& slice) override;

 private:
  EventSink& writer_;
  EventTap& tap_;
  const SliceSet& finished_;
};

}  // namespace eventloom
