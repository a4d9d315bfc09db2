#include "app/run/event_tap.hpp"

#include "core/dataflow/event_hits.hpp"
#include "core/runtime/clock.hpp"
#include "core/runtime/log.hpp"

namespace eventloom {

namespace {

/// Larger events are not sent.
constexpr MbsLayout kTapLayout{.buffer_bytes = 1U << 20};
constexpr std::int64_t kFlushAfterNs = 100'000'000;

}  // namespace

EventTap::EventTap(const MbsClientsSettings& settings, LmdEventMaker events)
    : events_(std::move(events)), packer_(kTapLayout), server_(settings, kTapLayout) {}

void EventTap::take(const BuiltSlice& slice) {
  if (server_.has_clients()) {
    EventHits event;
    for (EventWalk walk(slice); walk.next(event);) {
      pack(events_.make(event, taken_ + event.number + 1), event.time);
    }
  } else if (slice.events.size() != 0 && !packer_.has_begun()) {
    packer_.pass_over();
  }
  taken_ += slice.events.size();
}

void EventTap::pack(const LmdEvent& event, Tick time) {
  const auto bytes = event.bytes();
  if (!packer_.can_hold(bytes)) {
    if (too_large_.admit()) {
      log::warn("tap: the event at {} of {} bytes is not sent: buffers hold {}{}", time.value, bytes,
                packer_.largest_event(), too_large_.at_last("; further messages are suppressed; all are counted"));
    }
    return;
  }
  const bool had_begun = packer_.has_begun();
  auto full = packer_.add(event);
  if (!had_begun || full != nullptr) begun_at_ = steady_ns();
  give(std::move(full));
}

void EventTap::give(MbsGroupPtr group) {
  if (group != nullptr && server_.has_clients()) server_.give(std::move(group));
}

void EventTap::turn() {
  if (packer_.has_begun() && steady_ns() - begun_at_ >= kFlushAfterNs) give(packer_.flush());
}

void EventTap::end() {
  give(packer_.flush());
  server_.end();
}

void EventTap::add_to(Counters& counters) const {
  const auto totals = server_.totals();
  counters.add({{Metric::tap_clients, totals.clients},
                {Metric::tap_connections, totals.all.connected},
                {Metric::tap_refused, totals.all.refused},
                {Metric::tap_events, totals.all.sent.events},
                {Metric::tap_bytes, totals.all.sent.bytes},
                {Metric::tap_events_dropped, totals.all.sent.dropped_events + too_large_.count()},
                {Metric::tap_buffers_dropped, totals.all.sent.dropped_buffers}});
}

void TappedSink::write(const BuiltSlice& slice) {
  writer_.write(slice);
  if (!finished_.contains(slice.slice())) tap_.take(slice);
}

}  // namespace eventloom
