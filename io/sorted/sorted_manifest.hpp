#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "formats/event.hpp"
#include "formats/geometry.hpp"

namespace eventloom {

/// A source whose hits are in a folder of time-sorted streams.
struct SortedOrigin {
  std::string name;
  std::string uri;
  InputFile input;
  std::uint32_t id = 0;
  std::uint32_t flags = 0;  ///< StreamFlag
  bool has_payload = false;
  std::string text;
  std::vector<std::string> payload_names = {};  ///< see StreamHeader
};

/// One stream of the folder: the slices of one builder.
struct SortedFile {
  std::uint32_t builder = 0;  ///< determines the file name, see sorted_file_name()
  std::uint64_t bytes = 0;
  std::uint64_t hits = 0;
  std::uint32_t crc32c = 0;  ///< see InputFile
  Epoch end_epoch = 0;
};

/// Description of the detector in the run that saved the hits.
struct KeptDetector {
  std::string file;
  std::string map;                  ///< text of the map; empty: none
  std::vector<std::string> groups;  ///< values of --group
  bool corrected = false;           ///< offsets, masks or cuts of the map have been applied to the hits
  bool thinned = false;             ///< hits within dead times, of the map or the options, have been left out

  [[nodiscard]] bool empty() const { return map.empty() && groups.empty() && !thinned; }
};

/// Written by `--save-sorted` beside the streams: how they were made and what was lost, so that a run that reads them
/// ends with the same accounting. It is written last: without it, the streams belong to an unfinished run.
struct SortedManifest {
  TimeBase base;
  std::string definition;  ///< definition of the tagged events, lengths in ticks
  Tick overlap = 0;
  Tick bin_ticks = 0;  ///< bin width of the histograms
  std::uint64_t anomalies = 0;
  std::vector<SortedOrigin> sources;  ///< ordered by number
  std::vector<SortedFile> files;      ///< ordered by builder
  std::vector<Damage> damage;         ///< damage with its origin, by ascending first epoch
  KeptDetector detector;

  /// One past the last epoch with hits or damage.
  [[nodiscard]] Epoch end_epoch() const;
};

/// File name of a builder's stream in the folder.
std::string sorted_file_name(std::uint32_t builder);

/// Throws UserError when the manifest cannot be written.
void write_sorted_manifest(const std::filesystem::path& folder, const SortedManifest& manifest);
/// Throws UserError when there is no readable manifest.
SortedManifest read_sorted_manifest(const std::filesystem::path& folder);
/// Whether a run writes files with this name, finished or not, into its folder of time-sorted hits.
bool is_sorted_name(const std::string& name);
/// Whether a file is a manifest or a time-sorted stream.
bool is_sorted_file(const std::filesystem::path& file);
/// Whether the folder holds the hits of a finished run.
bool has_sorted_hits(const std::filesystem::path& folder);
/// Creates the folder, or removes the files of an earlier run from it. Does not touch foreign files with such names.
/// Throws UserError.
void prepare_sorted_folder(const std::filesystem::path& folder);

}  // namespace eventloom
