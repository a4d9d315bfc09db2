#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/definitions/event_list.hpp"
#include "core/definitions/expression.hpp"
#include "core/definitions/hit_key.hpp"
#include "formats/ids.hpp"

namespace eventloom {

/// The hits to search for events.
struct SortedHits {
  Tick start = 0;                               ///< absolute tick at which the ticks of the keys begin
  std::span<const HitKey> keys = {};            ///< ascending
  std::span<const std::uint32_t> channel = {};  ///< indexed by hit number; empty unless the definition needs channels
  std::span<const std::uint16_t> source = {};   ///< likewise
  std::span<const double> value = {};           ///< NaN: none; likewise, empty unless the definition uses_values()
};

/// Properties of a definition that other stages need.
struct DefinitionTraits {
  Tick reach = 0;               ///< distance from a hit that determines where an event starts or ends
  Tick longest_length = 0;      ///< longest length in its text: with a shorter overlap every event would be cut
  Tick least_span = 0;          ///< a longer event has enough hits; in a shorter one, hits this far apart may decide
  Tick bin_ticks = 1;           ///< suitable width of histogram bins
  bool needs_channels = false;  ///< it distinguishes hits by channel or source, individually or in groups
  const Expression* condition = nullptr;   ///< condition on its hits; lives as long as the definition
  bool needs_positions = false;            ///< it looks at the positions of channels, or at pixels
  std::string_view length_in_metres = {};  ///< place in its text, if positions are thus no pixels; lives as long as it
  bool needs_numbers = false;              ///< times are event numbers: NumberMatch decides which hits belong together
  bool finds_runs = true;                  ///< its events are runs of the sorted hits, which event tags can describe

  /// Whether its events depend on the values of hits.
  [[nodiscard]] bool uses_values() const { return condition != nullptr && condition->uses_values(); }
  /// Whether its events depend on groups, positions or values.
  [[nodiscard]] bool uses_detector() const {
    return needs_positions || (condition != nullptr && condition->uses_detector());
  }
  /// Whether its events depend on such a quantity.
  [[nodiscard]] bool uses(Quantity::Kind kind) const { return condition != nullptr && condition->uses(kind); }
};

/// Makes events of hits. Each kind has its own file and a row in definitions.cpp. Immutable, and shared by threads.
class EventDefinition {
 public:
  virtual ~EventDefinition() = default;

  /// The text of `--define`, with durations in ticks: equal for all texts with the same meaning.
  [[nodiscard]] virtual std::string text() const = 0;
  [[nodiscard]] virtual DefinitionTraits traits() const = 0;

  /// Adds all events that have a hit in the slice to `events`, which has been restarted with the keys of `hits`; may
  /// add others. Correct if the keys cover overlap + reach around the slice.
  virtual void find(const SortedHits& hits, EventList& events) const = 0;
};

using EventDefinitionPtr = std::shared_ptr<const EventDefinition>;

}  // namespace eventloom
