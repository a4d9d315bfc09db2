#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/definitions/definition_values.hpp"
#include "core/definitions/gap.hpp"

namespace eventloom {

/// tag - hits of equal time are one event: for data whose time is the event number.
class Tag final : public EventDefinition {
 public:
  static constexpr std::string_view kUsage = "tag";
  static constexpr std::string_view kEvent = "hits of equal time: for data whose time is the event number";

  static constexpr std::size_t kMinValues = 0;
  static constexpr std::size_t kMaxValues = 0;

  explicit Tag(const DefinitionValues& /*values*/) {}

  [[nodiscard]] std::string text() const override { return "tag"; }
  [[nodiscard]] DefinitionTraits traits() const override { return {.needs_numbers = true}; }
  void find(const SortedHits& hits, EventList& events) const override { Gap(0, 1).find(hits, events); }
};

}  // namespace eventloom
