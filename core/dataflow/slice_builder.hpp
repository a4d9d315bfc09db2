#pragma once

#include <cstddef>
#include <memory>
#include <optional>
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

struct SourceDamage {
  SourceId source;
  Damage damage;
};

/// How streams of time-sorted hits (formats/sorted_hit.hpp) are read back.
struct SortedInput {
  std::uint32_t n_sources = 0;  ///< of the run that sorted them
  bool use_tags = false;        ///< the events are those that are tagged
};

/// The slice as `--save-sorted` keeps it.
struct SortedSlice {
  std::vector<std::byte> buffers;    ///< stored epoch buffers, see formats/sorted_hit.hpp
  std::vector<SourceDamage> damage;  ///< what the slice accounts for of what was lost
};

struct SliceBuilderSettings {
  SliceGeometry geometry;
  EventDefinition definition;
  std::vector<PayloadTable> payload;  ///< by number of the stream
  bool with_payload = false;          ///< whether hits of any source have payload of their own
  /// StreamFlag bits by source number, or empty: none. With the definition `tag`, events are matched
  /// by NumberMatch.
  std::vector<std::uint32_t> stream_flags = {};
  std::optional<SortedInput> sorted = std::nullopt;  ///< set: all sources are streams of time-sorted hits
  Tick save_bin_ticks = 0;                           ///< width of the histograms' bins in what is saved
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
  /// source in the mask. Appends what the slice owns of that to `problems`. Fills `sorted` unless it is null.
  void build(SliceId slice, std::span<const SourceSlice> sources, BuiltSlice& out, std::vector<BuildProblem>& problems,
             SortedSlice* sorted = nullptr);

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace eventloom
