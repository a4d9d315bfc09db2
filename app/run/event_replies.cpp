#include "app/run/event_replies.hpp"

#include <algorithm>
#include <utility>

#include "core/dataflow/event_hits.hpp"

namespace eventloom {

EventReplies::EventReplies(const std::vector<std::string>& addresses, const ReplyFormat& format, EventFilter wanted)
    : encoder_(format), wanted_(std::move(wanted)) {
  for (const auto& address : addresses) {
    boards_.push_back(std::make_unique<UdpSender>(address, format.datagram_bytes, WhenFull::drop));
  }
}

void EventReplies::send(const BuiltSlice& slice, std::size_t kind) {
  PlaceInSlice place;
  EventHits event;
  for (EventWalk walk(slice); walk.next(event);) {
    place.event = event.number;
    place.n_hits = event.times.size();
    place.n_words = event.payload.size();
    if (wanted_.holds(event)) {
      const auto reply = encoder_.encode(slice, kind, place);
      for (const auto& board : boards_) std::ranges::copy(reply.bytes, board->next(reply.bytes.size()).begin());
      events_ += 1;
      cut_ += reply.is_cut ? 1 : 0;
    }
    place.first_hit += place.n_hits;
    place.first_word += place.n_words;
  }
  for (const auto& board : boards_) board->flush();
}

void EventReplies::add_to(Counters& counters) const {
  counters.add({{Metric::reply_events, events_}, {Metric::reply_cut, cut_}});
  for (const auto& board : boards_) {
    const auto& sent = board->count();
    counters.add({{Metric::reply_datagrams, sent.datagrams - sent.dropped},
                  {Metric::reply_bytes, sent.bytes - sent.dropped_bytes},
                  {Metric::reply_dropped, sent.dropped},
                  {Metric::reply_refused, sent.refused}});
  }
}

void ReplyingSink::write(const BuiltSlice& slice) {
  if (!finished_.contains(slice.slice())) replies_.send(slice, kind_);
  writer_.write(slice);
}

}  // namespace eventloom
