#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/source_settings.hpp"
#include "formats/slice_range.hpp"
#include "schedulers/scheduler.hpp"

namespace eventloom {

/// The data of one slice as sent: those of the source, except the last epoch buffer if the run ends inside it.
struct CollectedSlice {
  SliceData data;
  std::vector<std::byte> clipped;
};

/// The data of one source by slices: which of them belong to a slice, where there are none, and where they end.
class SourceData {
 public:
  /// `settings` must outlive this object.
  SourceData(LocalSource source, const SourceRoleSettings& settings);
  /// Call once, before any data are collected: nothing before the first slice will be.
  void begin();

  [[nodiscard]] SourceId id() const { return source_.id; }
  [[nodiscard]] const Source& source() const { return *source_.stream; }
  [[nodiscard]] LiveStream* live() const { return source_.live; }
  /// Recordings: the first slice with data.
  [[nodiscard]] SliceId first_slice() const { return first_slice_; }
  [[nodiscard]] EpochRange sent_epochs(SliceId slice) const;
  /// Epochs from the first one sent for a slice to the first in which any source has data of that slice.
  [[nodiscard]] std::int64_t lead() const;

  /// Collects the data of a slice into `out`, which is empty; false if there are none: gap() then contains the slice.
  bool collect(SliceId slice, CollectedSlice& out);
  /// The last gap found: the source has no data in it.
  [[nodiscard]] SliceRange gap() const { return gap_; }
  /// Empty, or the damage that contains the gap.
  [[nodiscard]] const std::vector<Damage>& gap_damage() const { return gap_damage_; }
  /// Slices before it will not be collected again.
  void release_before(SliceId slice) { source_.stream->release_before(sent_epochs(slice).begin); }

  /// The slices before it are on disk; kNoSlice: all.
  void safe_before(SliceId slice) {
    if (live() != nullptr) live()->advance(slice == kNoSlice ? kNoEpoch : sent_epochs(slice).begin, Advance::released);
  }

  /// One past the last slice with data, once known.
  [[nodiscard]] std::optional<SliceId> data_end() const { return data_end_; }
  /// One past the last slice to send, as currently known; kNoSlice while unknown.
  [[nodiscard]] SliceId send_end() const { return send_end_; }
  /// One past the last slice with data that is sent. While the end of the data is unknown it is the requested stop: the
  /// data extend beyond everything sent.
  [[nodiscard]] SliceId reported_end() const { return std::min(data_end_.value_or(stop_), stop_); }
  /// Whether the end of the data is known, and sent.
  [[nodiscard]] bool is_whole() const { return reported_end() == data_end_; }
  /// Damage after the end of the data that are sent: none or one record.
  [[nodiscard]] std::span<const Damage> tail() const;

  /// No slice at or after `stop` is sent.
  void stop_at(SliceId stop);
  /// The data end before slice `end`; returns their last epoch's end, in times as recorded.
  Epoch end_at(SliceId end);

 private:
  static constexpr Epoch kNoEpoch = std::numeric_limits<Epoch>::max();

  [[nodiscard]] Epoch first_of_run() const;
  bool read(SliceId slice, CollectedSlice& out);
  void clip(CollectedSlice& out) const;
  [[nodiscard]] bool continues_beyond(const Damage& damage, EpochRange sent) const;
  void find_gap(SliceId slice, const std::vector<Damage>& damage);
  void learn_end();

  LocalSource source_;
  const SourceRoleSettings& settings_;
  OffsetSpan offsets_;  ///< span of its time corrections
  SliceId first_slice_;
  SliceRange gap_;
  std::vector<Damage> gap_damage_;
  std::optional<SliceId> data_end_;
  std::optional<Damage> tail_;
  SliceId send_end_ = kNoSlice;
  SliceId stop_ = kNoSlice;   ///< one past the last slice to send, once asked to stop
  Epoch run_end_ = kNoEpoch;  ///< one past the last epoch that is part of the run, in times as recorded
};

}  // namespace eventloom
