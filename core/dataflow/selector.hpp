#pragma once

#include <memory>

#include "core/dataflow/event_filter.hpp"
#include "core/dataflow/event_sink.hpp"

namespace eventloom {

/// The last stage: selects events, completes the slice's account, writes.
class Selector {
 public:
  Selector(EventFilter filter, EventSink& sink) : filter_(std::move(filter)), sink_(sink) {}

  /// `slice` as built; slices come in rising order. Changes it.
  void take(BuiltSlice& slice) {
    filter_.select(slice);
    sink_.write(slice);
  }

 private:
  EventFilter filter_;
  EventSink& sink_;
};

}  // namespace eventloom
