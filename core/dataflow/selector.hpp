#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/dataflow/event_filter.hpp"
#include "core/dataflow/event_sink.hpp"

namespace eventloom {

/// The last stage: selects events, completes the slice's account, writes.
class Selector {
 public:
  /// `sinks`: one per kind of events, at least one. `watch`, unless empty, is called with each slice before events are
  /// removed from it. `judge` may be null. All must outlive this object.
  Selector(EventFilter filter, std::vector<EventSink*> sinks,
           std::function<void(std::span<const BuiltSlice>)> watch = {}, EventJudge* judge = nullptr)
      : filter_(std::move(filter)), sinks_(std::move(sinks)), watch_(std::move(watch)), judge_(judge) {}

  [[nodiscard]] std::size_t kinds() const { return sinks_.size(); }

  /// Processes a slice as built, with all its kinds of events, and modifies it; slices come in ascending order. What
  /// the judge cannot judge is not written.
  void take(std::span<BuiltSlice> built) {
    if (watch_) watch_(built);
    for (std::size_t i = 0; i < sinks_.size(); ++i) {
      if (judge_ == nullptr) {
        filter_.select(built[i]);
      } else if (!filter_.select(built[i], i, *judge_)) {
        return;
      }
      sinks_[i]->write(built[i]);
    }
  }

 private:
  EventFilter filter_;
  std::vector<EventSink*> sinks_;
  std::function<void(std::span<const BuiltSlice>)> watch_;
  EventJudge* judge_;
};

}  // namespace eventloom
