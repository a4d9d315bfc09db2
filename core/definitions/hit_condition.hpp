#pragma once

#include <cstdint>
#include <optional>

#include "core/definitions/event_definition.hpp"
#include "core/definitions/expression.hpp"
#include "core/detector/channel_table.hpp"
#include "core/detector/detector.hpp"

namespace eventloom {

/// A condition that is evaluated on single hits, each as a window that holds no other. Immutable, and shared by
/// threads.
class HitCondition {
 public:
  HitCondition(Expression condition, DetectorPtr detector);

  [[nodiscard]] const Expression& condition() const { return condition_; }
  /// Whether it holds for the hit with this number.
  [[nodiscard]] bool holds(const SortedHits& hits, std::uint32_t number) const;

 private:
  /// A hit, with the data that the condition may use.
  struct Hit {
    std::uint16_t source;
    std::uint32_t channel;
    GroupSet groups;
    double value;
  };
  [[nodiscard]] bool is_selected(const HitSelection& selection, const Hit& hit) const;
  [[nodiscard]] std::optional<std::uint64_t> value(const Quantity& quantity, const Hit& hit) const;

  Expression condition_;
  DetectorPtr detector_;
  ChannelTable<GroupSet> groups_;
};

}  // namespace eventloom
