#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/dataflow/hit_spans.hpp"
#include "core/dataflow/slice_builder_settings.hpp"
#include "core/dataflow/sorted_slice.hpp"
#include "core/dataflow/source_slice.hpp"
#include "core/dataflow/unplaced_hits.hpp"
#include "formats/event.hpp"

namespace eventloom {

class ChannelUse;

/// Decoding, time sort, search for events and account of one slice.
///
/// Keeps its working memory between slices; one instance per thread. Independent of ranks.
class SliceBuilder {
 public:
  /// Uses the margin of the widest events. Throws UserError if the ticks sent for a slice do not fit 36 bits.
  explicit SliceBuilder(SliceBuilderSettings settings);
  ~SliceBuilder();
  SliceBuilder(SliceBuilder&&) noexcept;

  /// `sources`: all sources of the run, indexed by source number. Replaces the contents of `out`, one per kind of
  /// events. Epoch buffers with wrong checksums or markers are dropped whole and counted as corrupt by the slice
  /// that owns their first epoch; events that touch their epochs are flagged kIncomplete, with the source in the
  /// mask. Appends the defects that the slice owns to `problems`; these and the hits that the detector drops are the
  /// losses of `out`. Fills `sorted` unless it is null: hits with the events of the first kind.
  void build(SliceId slice, std::span<const SourceSlice> sources, std::vector<BuiltSlice>& out,
             std::vector<BuildProblem>& problems, SortedSlice* sorted = nullptr);

  /// Adds the channels of the detector that have had hits so far, the hits of its slices without a position, if a
  /// definition looks at positions, and the spans of the hits.
  void add_to(ChannelUse& use, UnplacedHits& unplaced, HitSpans& spans) const;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace eventloom
