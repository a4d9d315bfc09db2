#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/dataflow/decoded_hits.hpp"
#include "core/dataflow/removed_hits.hpp"
#include "core/dataflow/slice_builder_settings.hpp"
#include "core/dataflow/source_slice.hpp"
#include "core/definitions/event_list.hpp"
#include "core/definitions/hit_key.hpp"
#include "core/detector/channel_table.hpp"
#include "core/runtime/scratch.hpp"
#include "formats/event.hpp"
#include "formats/payload_kind.hpp"

namespace eventloom {

/// Adds the detector's offsets to the times of the hits, and removes those that are masked or cut.
///
/// A removed hit belongs to the slice that contains its corrected time. Hits with corrected times before tick 0 are
/// dropped as untimed, by slice 0.
class HitCorrection {
 public:
  explicit HitCorrection(const SliceBuilderSettings& settings);

  /// The remaining hits within `n_ticks` of bounds.start, in the order of their numbers; valid until the next call.
  /// Records the other hits in `removed`, and untimed ones also in `problems`.
  std::span<const HitKey> correct(const DecodedHits& hits, const SliceBounds& bounds, Tick n_ticks,
                                  RemovedHits& removed, std::vector<BuildProblem>& problems);

  /// Restores the order of the run among hits of equal times that were saved in another order: by source, then by
  /// time as saved. `keys`: the result of correct(), sorted by time. The result is valid until the next call.
  std::span<const HitKey> order_equal_times(const DecodedHits& hits, std::span<const HitKey> keys);

  /// Number of remaining hits that lie in the slice.
  [[nodiscard]] std::uint64_t kept_in_slice() const { return kept_in_slice_; }

 private:
  /// The treatment of the hits of a channel.
  struct Rule {
    std::int64_t offset = 0;
    bool masked = false;
    bool cut = false;
    double min_payload = 0;
    double max_payload = 0;
    friend bool operator==(const Rule&, const Rule&) = default;
  };
  template <class DeltaOf>
  void shift(const DecodedHits& hits, std::uint16_t source, DeltaOf delta_of);
  void apply_rules(const DecodedHits& hits, const DecodedSource& stream, std::int64_t base);
  void apply(const Rule& rule, const DecodedHits& hits, std::uint32_t number, std::int64_t tick);
  void count_early(const DecodedHits& hits);

  const SliceBuilderSettings& settings_;
  ChannelTable<Rule> rules_;
  std::vector<PayloadKind> kinds_;  ///< kinds of the first payload word, indexed by source; empty: u32
  std::vector<bool> takes_out_;     ///< indexed by source: some of its hits are masked or cut
  RemovedHits* removed_ = nullptr;
  Scratch<HitKey> keys_;
  std::vector<HitKey> ordered_;
  std::size_t n_keys_ = 0;
  SliceBounds bounds_;
  Tick n_ticks_ = 0;
  std::uint64_t kept_in_slice_ = 0;
};

}  // namespace eventloom
