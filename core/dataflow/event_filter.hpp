#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dataflow/event_judge.hpp"
#include "core/dataflow/event_measure.hpp"
#include "core/definitions/expression.hpp"
#include "core/detector/detector.hpp"
#include "core/runtime/setting.hpp"
#include "formats/event.hpp"

namespace eventloom {

/// The conjunction of the expressions of a setting, such as `--filter`. A pure function of the event.
class EventFilter {
 public:
  /// `detector`: never null. `setting`: its name is in messages.
  explicit EventFilter(DetectorPtr detector, Setting setting = Setting::filter)
      : setting_(setting), measure_(std::move(detector)) {}
  EventFilter() : EventFilter(std::make_shared<Detector>()) {}

  /// Throws UserError that states what was expected. Durations are in ticks or carry a unit.
  void add(std::string_view expression, const RunTicks& ticks);
  /// `stream_flags`: StreamFlag bits by source number; `with_payload`: whether hits of any source have payload. Throws
  /// UserError if an expression needs trigger types, values or positions that these sources or the detector lack.
  void set_streams(std::vector<std::uint32_t> stream_flags, bool with_payload = true);

  [[nodiscard]] bool empty() const { return expressions_.empty(); }
  [[nodiscard]] const std::vector<Expression>& expressions() const { return expressions_; }
  [[nodiscard]] const EventMeasure& measure() const { return measure_; }

  /// Whether all expressions hold.
  [[nodiscard]] bool holds(const EventHits& event) const;
  /// Removes foreign and rejected events from `slice`, with their hits, and moves the slice's hits in rejected
  /// events from `hits_in_events` to `hits_rejected` in its ledger row. Counts the rejected events that the slice
  /// owns, in total and per expression: all expressions are evaluated on every event.
  void select(BuiltSlice& slice) const;
  /// The same with a judge for the events that the expressions accept, whose rejections are counted like those of a
  /// further expression. `kind`: index of the kind of events. Returns false if the judge fails; the slice is then
  /// undefined.
  [[nodiscard]] bool select(BuiltSlice& slice, std::size_t kind, EventJudge& judge) const;

 private:
  void restart(BuiltSlice& slice, std::size_t n_conditions) const;
  [[nodiscard]] bool accepts(const EventHits& event, BuiltSlice& slice) const;

  Setting setting_;
  std::vector<Expression> expressions_;
  EventMeasure measure_;
};

}  // namespace eventloom
