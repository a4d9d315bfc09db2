#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "core/dataflow/event_filter.hpp"
#include "formats/event.hpp"

namespace eventloom {

/// Explains the first events for --explain: which terms of the filters hold. The texts are keyed by the time of the
/// event.
class ExplainedEvents {
 public:
  /// `filter` must outlive it. `tick_ps`: 0 where times are event numbers.
  ExplainedEvents(const EventFilter& filter, std::size_t most, std::uint64_t tick_ps)
      : filter_(&filter), most_(most), tick_ps_(tick_ps) {}

  /// Adds a slice before its events are selected; slices may come in any order.
  void add(const BuiltSlice& slice);
  /// Adds an explanation made elsewhere.
  void add(Tick time, std::string text);
  [[nodiscard]] const std::map<Tick, std::string>& texts() const { return texts_; }

 private:
  [[nodiscard]] bool wants(Tick time) const { return texts_.size() < most_ || time < texts_.rbegin()->first; }
  [[nodiscard]] std::string explain(const EventHits& event) const;
  [[nodiscard]] std::string value_text(const Term& term, const EventHits& event) const;

  const EventFilter* filter_;
  std::size_t most_;
  std::uint64_t tick_ps_;
  std::map<Tick, std::string> texts_;
};

}  // namespace eventloom
