#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "formats/markers.hpp"
#include "io/sorted/sorted_manifest.hpp"

namespace eventloom {

/// Description of a source, known to every rank.
struct SourceInfo {
  std::string name;
  std::string uri;
  std::string path;  ///< empty when there is no file
  std::uint64_t bytes = 0;
  std::uint32_t crc32c = 0;
  double epoch_bytes = 0;  ///< of an epoch, on average; 0: not known beforehand
  std::uint32_t recorded_id = 0;
  TimeBase base;
  PayloadTable payload;
  std::uint32_t flags = 0;           ///< StreamFlag
  std::string text;                  ///< the stream's own description
  std::optional<Epoch> first_epoch;  ///< nothing for an empty stream, or a live one that is not known yet
  bool live = false;
  bool joined = false;                          ///< a live source that had sent data before the first received
  Epoch wraps_after = 0;                        ///< see LivePeer
  bool counts_tai = false;                      ///< times are White Rabbit stamps
  std::int64_t started_ns = 0;                  ///< Unix time of tick 0, as a live source states; 0: unknown
  std::optional<std::int64_t> clock_behind_ns;  ///< see LivePeer
  std::optional<std::int64_t> origin_ns;        ///< likewise, as the times of a recording count from it by its URI
};

/// Origin of the streams in a folder of time-sorted hits.
struct SortedInfo {
  std::vector<SourceInfo> sources;  ///< of the hits, by number
  std::size_t streams = 0;          ///< in the folder
  std::string definition;           ///< of the tagged events, see EventDefinition::text()
  Tick overlap = 0;
};

/// For messages between ranks. `id`: its number.
nlohmann::json to_json(SourceId id, const SourceInfo& info);
SourceInfo info_from_json(const nlohmann::json& json);
/// What a manifest says of its folder.
nlohmann::json to_json(const SortedManifest& manifest);
SortedInfo sorted_from_json(const nlohmann::json& json);

}  // namespace eventloom
