#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/dataflow/slice_builder_settings.hpp"
#include "core/dataflow/sorted_slice.hpp"
#include "core/dataflow/source_slice.hpp"
#include "formats/event.hpp"

namespace eventloom {

class ChannelUse;

/// Decode, time sort, search for events and the account of one slice.
///
/// Keeps its working memory between slices; one instance per thread. Independent of ranks.
class SliceBuilder {
 public:
  /// The margin is that of the widest events. Throws UserError when the ticks sent for a slice do not fit 32 bits.
  explicit SliceBuilder(SliceBuilderSettings settings);
  ~SliceBuilder();
  SliceBuilder(SliceBuilder&&) noexcept;

  /// `sources`: by source number, all sources of the run. Replaces the contents of `out`, one for each kind of events.
  /// Epoch buffers with wrong checksums or markers are dropped as a whole and counted as corrupt by the slice that owns
  /// their first epoch; events that touch their epochs are flagged kIncomplete, with the source in the mask. Appends
  /// the defects that the slice owns to `problems`; these and the hits that the detector drops are the losses of `out`.
  /// Fills `sorted` unless it is null: hits with the events of the first kind.
  void build(SliceId slice, std::span<const SourceSlice> sources, std::vector<BuiltSlice>& out,
             std::vector<BuildProblem>& problems, SortedSlice* sorted = nullptr);

  /// Adds which channels of the detector have had hits so far.
  void add_to(ChannelUse& use) const;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace eventloom
