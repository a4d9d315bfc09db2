#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "formats/event.hpp"
#include "formats/geometry.hpp"

namespace eventloom {

/// A source of the hits in a folder of time-sorted streams.
struct SortedOrigin {
  std::string name;
  std::string uri;
  InputFile input;
  std::uint32_t id = 0;
  std::uint32_t flags = 0;  ///< StreamFlag
  bool has_payload = false;
  std::string text;
};

/// One stream of the folder: the slices of one builder.
struct SortedFile {
  std::uint32_t builder = 0;  ///< names it, see sorted_file_name()
  std::uint64_t bytes = 0;
  std::uint64_t hits = 0;
  std::uint32_t crc32c = 0;  ///< see InputFile
  Epoch end_epoch = 0;
};

/// What the run that saved the hits knew of the detector.
struct KeptDetector {
  std::string file;
  std::string map;                  ///< text; empty: none
  std::vector<std::string> groups;  ///< of --group
  bool corrected = false;           ///< offsets, masks or cuts of the map have been applied to the hits

  [[nodiscard]] bool empty() const { return map.empty() && groups.empty(); }
};

/// Written by `--save-sorted` beside the streams: how they were made and what was lost on the way, so that a run that
/// reads them ends with the same account. Written last: without it the streams belong to an unfinished run.
struct SortedManifest {
  TimeBase base;
  std::string definition;  ///< of the events that are tagged, lengths in ticks
  Tick overlap = 0;
  Tick bin_ticks = 0;  ///< of the histograms
  std::uint64_t anomalies = 0;
  std::vector<SortedOrigin> sources;  ///< by number
  std::vector<SortedFile> files;      ///< by builder
  std::vector<Damage> damage;         ///< with their origin, in rising first epochs
  KeptDetector detector;

  /// One past the last epoch with hits or damage.
  [[nodiscard]] Epoch end_epoch() const;
};

/// Name of a builder's stream in the folder.
std::string sorted_file_name(std::uint32_t builder);

/// Throws UserError when it cannot be written.
void write_sorted_manifest(const std::filesystem::path& folder, const SortedManifest& manifest);
/// Throws UserError when there is no readable manifest.
SortedManifest read_sorted_manifest(const std::filesystem::path& folder);
/// Whether a run writes a file of this name, finished or not, into its folder of time-sorted hits.
bool is_sorted_name(const std::string& name);
/// Whether a file is a manifest or a time-sorted stream.
bool is_sorted_file(const std::filesystem::path& file);
/// Whether the folder holds the hits of a finished run.
bool has_sorted_hits(const std::filesystem::path& folder);
/// Creates the folder, or removes the files of an earlier run from it; foreign files of such names are left alone.
/// Throws UserError.
void prepare_sorted_folder(const std::filesystem::path& folder);

}  // namespace eventloom
