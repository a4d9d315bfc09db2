#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/dataflow/event_hits.hpp"
#include "core/definitions/expression.hpp"
#include "core/definitions/hit_selection.hpp"
#include "core/detector/channel_table.hpp"
#include "core/detector/detector.hpp"
#include "core/detector/value_table.hpp"

namespace eventloom {

/// Evaluates the quantities of expressions on events. Immutable after set_streams(), and then shared by threads.
class EventMeasure {
 public:
  explicit EventMeasure(DetectorPtr detector);

  /// `stream_flags`: StreamFlag bits by source number; they indicate which sources have trigger types, and what their
  /// payload words mean.
  void set_streams(std::vector<std::uint32_t> stream_flags);
  [[nodiscard]] bool has_triggers() const;
  [[nodiscard]] const Detector& detector() const { return *detector_; }

  /// Returns the value as terms compare it, see Quantity; std::nullopt if the trigger type of an event is unknown, for
  /// the largest value of no hits, and for a sum that is not a number.
  [[nodiscard]] std::optional<std::uint64_t> value(const Quantity& quantity, const EventHits& event) const;
  /// A comparison with an unknown value does not hold.
  [[nodiscard]] bool holds(const Term& term, const EventHits& event) const {
    const auto known = value(term.quantity, event);
    return known && term.holds(*known);
  }
  [[nodiscard]] bool holds(const Expression& expression, const EventHits& event) const {
    return expression.holds([&](std::size_t term) { return holds(expression.terms()[term], event); });
  }

  /// Value of a hit; NaN: none.
  [[nodiscard]] double value_of(std::uint16_t source, std::uint32_t channel,
                                std::span<const std::uint32_t> payload) const {
    return (*values_)(source, channel, payload);
  }
  /// Whether a hit belongs to a selection, regardless of its time.
  [[nodiscard]] bool includes(const HitSelection& selection, std::uint16_t source, std::uint32_t channel,
                              std::span<const std::uint32_t> payload) const {
    if (!selection.is_member(source, channel, groups_of(source, channel))) return false;
    return !selection.values || selection.values->contains(value_of(source, channel, payload));
  }
  [[nodiscard]] GroupSet groups_of(std::uint16_t source, std::uint32_t channel) const {
    return source < groups_->sources() ? groups_->of(source)[channel] : 0;
  }

 private:
  [[nodiscard]] std::uint64_t hits_in_group(std::size_t group, const EventHits& event) const;
  [[nodiscard]] std::optional<std::uint64_t> trigger(const EventHits& event) const;
  [[nodiscard]] std::uint64_t causal(const Quantity& quantity, const EventHits& event) const;
  [[nodiscard]] std::optional<std::uint64_t> selected(const Quantity& quantity, const EventHits& event) const;
  [[nodiscard]] std::vector<SelectedHit> select(const HitSelection& selection, const EventHits& event) const;

  DetectorPtr detector_;
  std::shared_ptr<const ChannelTable<GroupSet>> groups_;
  std::shared_ptr<const ValueTable> values_;
  std::vector<std::uint32_t> flags_;
};

}  // namespace eventloom
