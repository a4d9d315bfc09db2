#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/dataflow/event_hits.hpp"
#include "core/dataflow/histogram_set.hpp"
#include "core/detector/detector.hpp"
#include "formats/event.hpp"

namespace eventloom {

/// Fills the histograms of events. Used by one thread; reuses its memory between slices.
class EventHistograms {
 public:
  /// `set`: never null.
  explicit EventHistograms(std::shared_ptr<const HistogramSet> set);

  /// Adds the events of a slice as passed to a sink, and what its builder counted of all hits. `cells`: those of the
  /// set.
  void add(const BuiltSlice& slice, std::span<std::uint64_t> cells);

 private:
  struct Hit {
    std::uint32_t number = 0;  ///< index in the event
    std::uint32_t channel = 0;
    std::uint16_t source = 0;
    Tick tick = 0;
    GroupSet groups = 0;
    double value = 0;  ///< NaN: none
  };
  /// The hits of an event that belong to a selection.
  struct Selected {
    HitSelection selection;
    bool is_known = false;  ///< true once `hits` are those of the current event
    std::vector<Hit> hits;
  };
  using EntryHits = std::array<const Hit*, 2>;

  void add_event(std::size_t histogram, const EventHits& event, std::span<std::uint64_t> cells);
  void look_at(const EventHits& event);
  [[nodiscard]] std::span<const Hit> hits_of(const std::optional<std::size_t>& selected, Tick event_time);
  void add_differences(std::size_t histogram, std::span<const Hit> firsts, std::span<const Hit> seconds,
                       std::span<std::uint64_t> cells) const;
  void add_entry(std::size_t histogram, const EventHits& event, EntryHits hits, std::span<std::uint64_t> cells) const;
  static double difference(const Hit& first, const Hit& second);

  std::shared_ptr<const HistogramSet> set_;
  std::vector<Selected> selected_;  ///< one per different selection
  /// Selections of the hits of an entry, indexed by histogram; std::nullopt: all hits.
  std::vector<std::vector<std::optional<std::size_t>>> places_;
  std::vector<Hit> hits_;  ///< all hits of the current event
};

}  // namespace eventloom
