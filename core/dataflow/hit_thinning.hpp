#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/dataflow/dead_time.hpp"
#include "core/dataflow/decoded_hits.hpp"
#include "core/dataflow/removed_hits.hpp"
#include "core/dataflow/slice_builder_settings.hpp"
#include "core/definitions/event_list.hpp"
#include "core/definitions/hit_key.hpp"
#include "core/detector/channel_table.hpp"

namespace eventloom {

/// Removes hits by their corrected times: those outside the wanted stretch of time, and of the others those within the
/// dead time of their channel.
class HitThinning {
 public:
  explicit HitThinning(const SliceBuilderSettings& settings);
  /// Whether it would remove any hit.
  [[nodiscard]] static bool is_needed(const SliceBuilderSettings& settings);

  /// The remaining ones of the hits, which are in order of time; valid as long as `keys` and until the next call.
  /// Enters the removed ones into `removed`.
  std::span<const HitKey> thin(const DecodedHits& hits, std::span<const HitKey> keys, const SliceBounds& bounds,
                               RemovedHits& removed);
  /// Number of the slice's hits removed by the last call.
  [[nodiscard]] std::uint64_t n_removed() const { return n_removed_; }

 private:
  void remove(const DecodedHits& hits, HitKey key, DropCause cause);
  std::span<const HitKey> within_stretch(const DecodedHits& hits, std::span<const HitKey> keys);
  std::span<const HitKey> without_dead(const DecodedHits& hits, std::span<const HitKey> keys);

  TickRange stretch_;
  ChannelTable<Tick> dead_times_;
  bool has_dead_times_;
  std::unordered_map<std::uint64_t, ChannelDeadTime> channels_;  ///< key: source and channel
  std::vector<HitKey> kept_;
  SliceBounds bounds_;
  RemovedHits* removed_ = nullptr;
  std::uint64_t n_removed_ = 0;
};

}  // namespace eventloom
