#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/json.hpp"
#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "formats/markers.hpp"
#include "io/sorted/sorted_manifest.hpp"

namespace eventloom {

/// Description of a source, known to all ranks.
struct SourceInfo {
  std::string name;
  std::string uri;
  std::string path;  ///< empty: no file
  std::uint64_t bytes = 0;
  std::uint32_t crc32c = 0;
  double epoch_bytes = 0;  ///< mean size of an epoch; 0: not known before it is read
  std::uint32_t recorded_id = 0;
  TimeBase base;
  PayloadTable payload;
  std::uint32_t flags = 0;                 ///< StreamFlag
  std::string text;                        ///< the stream's own description
  std::vector<std::string> payload_names;  ///< see StreamHeader
  std::optional<Epoch> first_epoch;        ///< not set for an empty stream, or a live one that is not yet known
  bool live = false;
  bool followed = false;                        ///< live, from files: its data can be read again
  bool joined = false;                          ///< a live source that sent data before the first that was received
  bool had_run = false;                         ///< an earlier run of the series received its data up to some time
  Epoch wraps_after = 0;                        ///< see LivePeer
  std::string era_clock;                        ///< the source's clock, if its times continue after jumps; else empty
  bool counts_tai = false;                      ///< times are White Rabbit stamps
  std::int64_t started_ns = 0;                  ///< Unix time of tick 0 as stated by a live source; 0: unknown
  std::optional<std::int64_t> clock_behind_ns;  ///< see LivePeer
  std::optional<std::int64_t> origin_ns;        ///< Unix time of tick 0 in ns, from the URI of a recording
};

/// Origin of the streams in a folder of time-sorted hits.
struct SortedInfo {
  std::vector<SourceInfo> sources;  ///< sources of the hits, indexed by number
  std::size_t streams = 0;          ///< number of streams in the folder
  std::string definition;           ///< definition of the tagged events, see EventDefinition::text()
  Tick overlap = 0;
};

/// Representation for messages between ranks. `id`: number of the source.
Json to_json(SourceId id, const SourceInfo& info);
SourceInfo info_from_json(const Json& json);
/// Returns the description of the folder that its manifest contains.
Json to_json(const SortedManifest& manifest);
SortedInfo sorted_from_json(const Json& json);

}  // namespace eventloom
