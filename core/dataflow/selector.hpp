#pragma once

#include <functional>
#include <utility>

#include "core/dataflow/event_filter.hpp"
#include "core/dataflow/event_sink.hpp"

namespace eventloom {

/// The last stage: selects events, completes the slice's account, writes.
class Selector {
 public:
  /// `watch`, unless it is empty, is called with each slice before events are taken out of it.
  Selector(EventFilter filter, EventSink& sink, std::function<void(const BuiltSlice&)> watch = {})
      : filter_(std::move(filter)), sink_(sink), watch_(std::move(watch)) {}

  /// `slice` as built; slices come in rising order. Changes it.
  void take(BuiltSlice& slice) {
    if (watch_) watch_(slice);
    filter_.select(slice);
    sink_.write(slice);
  }

 private:
  EventFilter filter_;
  EventSink& sink_;
  std::function<void(const BuiltSlice&)> watch_;
};

}  // namespace eventloom
