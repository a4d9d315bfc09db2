#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/run/run_config.hpp"
#include "core/dataflow/slice_builder_settings.hpp"
#include "core/engine/roles.hpp"
#include "core/engine/source_role.hpp"
#include "core/mpi/communicator.hpp"
#include "formats/geometry.hpp"
#include "formats/markers.hpp"
#include "formats/slice_set.hpp"

namespace eventloom {

/// What every rank knows of every source.
struct SourceFacts {
  std::string name;
  std::string uri;
  std::string path;  ///< empty when there is no file
  std::uint64_t bytes = 0;
  std::uint32_t crc32c = 0;
  std::uint32_t recorded_id = 0;
  TimeBase base;
  PayloadTable payload;
  std::uint32_t flags = 0;           ///< StreamFlag
  std::string text;                  ///< what the stream says of itself
  std::optional<Epoch> first_epoch;  ///< nothing for an empty stream, or a live one that has not come yet
  bool live = false;
  bool joined = false;          ///< a live source that had sent before it was heard first
  std::int64_t started_ns = 0;  ///< Unix time of tick 0, as a live source says; 0: it does not
};

/// How the streams of a folder of time-sorted hits came about.
struct SortedFacts {
  std::vector<SourceFacts> sources;  ///< that the hits came from, by number
  std::size_t streams = 0;           ///< in the folder
  std::string definition;            ///< of the tagged events, see EventDefinition::text()
  Tick overlap = 0;
};

/// A run ready to start: the same on every rank but for `local`.
struct RunSetup {
  Roles roles;
  RunMeaning meaning;
  std::vector<SourceFacts> streams;  ///< what is read, by number
  std::vector<SourceFacts> sources;  ///< whose hits these are, by number: the streams, unless those are sorted ones
  std::optional<SortedInput> sorted;
  bool with_payload = false;
  bool numbered = false;           ///< times are event numbers
  bool live = false;               ///< any source is
  bool all_live = false;           ///< all sources are
  std::int64_t started_ns = 0;     ///< Unix time of tick 0; 0: not known
  bool time_over = false;          ///< --duration has passed while live sources were waited for
  SliceId first_slice;             ///< of the earliest data of any source; of a resumed run: the first unfinished
  SliceSet finished;               ///< slices that an earlier run has finished
  std::vector<std::string> hosts;  ///< by rank
  std::vector<SourceRole::LocalSource> local;
};

/// Collective. Opens the sources, each on its rank, and tells everybody about them. When any rank
/// meets an error all throw the same UserError. `each_turn` is called now and then while live sources are waited for.
RunSetup set_up_run(const RunConfig& config, const Communicator& communicator, const std::function<void()>& each_turn);

}  // namespace eventloom
