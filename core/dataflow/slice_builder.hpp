#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/event_definition.hpp"
#include "formats/event.hpp"
#include "formats/geometry.hpp"
#include "formats/markers.hpp"

namespace eventloom {

/// What arrived of one source for one slice: stored epoch buffers one behind the other, aligned to
/// 8 bytes, and the stretches that the source left out.
struct SourceSlice {
  std::span<const std::byte> buffers;
  std::span<const Damage> damage;
};

/// A defect found while building; the caller reports it once.
struct BuildProblem {
  SourceId source;
  Damage damage;  ///< file_offset points to the word that is wrong
  std::string reason;
};

struct SliceBuilderSettings {
  SliceGeometry geometry;
  EventDefinition definition;
  std::vector<PayloadTable> payload;  ///< by source number
  bool with_payload = false;          ///< whether any source of the run has payload
};

/// Decode, time sort, event definition and the account of one slice.
///
/// Keeps its working memory between slices; one instance per thread. Knows nothing of ranks.
class SliceBuilder {
 public:
  /// Takes `reach` from the definition. Throws UserError when the ticks that are sent for a slice do not
  /// fit 32 bits.
  explicit SliceBuilder(SliceBuilderSettings settings);
  ~SliceBuilder();
  SliceBuilder(SliceBuilder&&) noexcept;

  /// `sources`: by source number, all sources of the run. Replaces the contents of `out`.
  /// Epoch buffers with wrong checksums or markers are left out whole and counted as corrupt by the
  /// slice that owns their first epoch; events that touch their epochs are flagged kIncomplete, with the
  /// source in the mask. Appends what the slice owns of that to `problems`.
  void build(SliceId slice, std::span<const SourceSlice> sources, BuiltSlice& out, std::vector<BuildProblem>& problems);

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace eventloom
