#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/dataflow/event_filter.hpp"
#include "core/dataflow/event_sink.hpp"
#include "core/runtime/metrics.hpp"
#include "formats/reply_datagram.hpp"
#include "formats/slice_set.hpp"
#include "io/udp/udp_sender.hpp"

namespace eventloom {

/// Sends the events of one writer to boards, as datagrams of one event each, every one to all addresses. Never waits:
/// replies for which the system has no room are dropped and counted.
class EventReplies {
 public:
  /// `addresses`: see resolve_udp(). `wanted`: the events that are sent. Throws UserError for an invalid address.
  EventReplies(const std::vector<std::string>& addresses, const ReplyFormat& format, EventFilter wanted);

  /// Sends the wanted events of a slice. `kind`: index of the kind of events.
  void send(const BuiltSlice& slice, std::size_t kind);
  /// Adds the counters of Account::reply.
  void add_to(Counters& counters) const;

 private:
  ReplyEncoder encoder_;
  EventFilter wanted_;
  std::vector<std::unique_ptr<UdpSender>> boards_;
  std::uint64_t events_ = 0;
  std::uint64_t cut_ = 0;
};

/// Sends the events before it passes them on to a writer: writing may take long.
class ReplyingSink final : public EventSink {
 public:
  /// Slices in `finished` were written, and sent, by an earlier invocation; they are not sent again. All arguments must
  /// outlive this object.
  ReplyingSink(EventSink& writer, EventReplies& replies, std::size_t kind, const SliceSet& finished)
      : writer_(writer), replies_(replies), kind_(kind), finished_(finished) {}
  void write(const BuiltSlice& slice) override;

 private:
  EventSink& writer_;
  EventReplies& replies_;
  std::size_t kind_;
  const SliceSet& finished_;
};

}  // namespace eventloom
