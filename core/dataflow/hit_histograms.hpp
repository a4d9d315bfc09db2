#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/dataflow/event_search.hpp"
#include "core/dataflow/histogram_set.hpp"
#include "formats/event.hpp"

namespace eventloom {

/// Fills the histograms of all hits, slice by slice. Used by one thread; reuses its memory between slices.
class HitHistograms {
 public:
  /// `set`: never null. `with_payload`: whether decoded hits have payload.
  HitHistograms(std::shared_ptr<const HistogramSet> set, bool with_payload);

  /// The cells that the hits of a slice fill, in no particular order; valid until the next call. Hits that the detector
  /// removes do not count; those excluded from events by number do.
  std::span<const FilledCell> fill(const SliceHits& slice);

 private:
  void add_hit(const EventHits& hit);
  void count(std::uint32_t cell);

  std::shared_ptr<const HistogramSet> set_;
  bool with_payload_;
  std::vector<std::uint32_t> place_;  ///< indexed by cell: its index in filled_ plus 1; 0 if it is empty
  std::vector<FilledCell> filled_;
};

}  // namespace eventloom
