#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "formats/event.hpp"
#include "formats/geometry.hpp"

namespace eventloom {

/// A source that hits in a folder of time-sorted streams came from.
struct SortedOrigin {
  std::string name;
  std::string uri;
  InputFile input;
  std::uint32_t id = 0;
  std::uint32_t flags = 0;  ///< StreamFlag
  bool has_payload = false;
  std::string text;
};

/// One stream of the folder, the slices of one builder.
struct SortedFile {
  std::uint32_t builder = 0;
  std::string name;  ///< in the folder
  std::uint64_t bytes = 0;
  std::uint64_t hits = 0;
  std::uint32_t crc32c = 0;  ///< see InputFile
  Epoch end_epoch = 0;
};

/// What `--save-sorted` leaves beside the streams: how they came about and what was lost on the way,
/// so that a run that takes them back ends with the same account. Written last: without it the
/// streams are of a run that did not end.
struct SortedManifest {
  TimeBase base;
  std::string definition;  ///< of the events that are tagged, lengths in ticks
  Tick overlap = 0;
  Tick bin_ticks = 0;  ///< of the histograms
  std::uint64_t anomalies = 0;
  std::vector<SortedOrigin> sources;  ///< by number
  std::vector<SortedFile> files;      ///< by builder
  std::vector<Damage> damage;         ///< with their origin, in rising first epochs

  /// One past the last epoch with hits or damage.
  [[nodiscard]] Epoch end_epoch() const;
};

/// Name of a builder's stream in the folder.
std::string sorted_file_name(std::uint32_t builder);

/// Part of a manifest, what one rank has to tell, as JSON text; and back, added to both lists.
std::string to_text(const std::vector<SortedFile>& files, const std::vector<Damage>& damage);
void add_from_text(const std::string& text, std::vector<SortedFile>& files, std::vector<Damage>& damage);

/// Throws UserError when it cannot be written.
void write_sorted_manifest(const std::filesystem::path& folder, const SortedManifest& manifest);
/// Throws UserError when there is none, or none that can be read.
SortedManifest read_sorted_manifest(const std::filesystem::path& folder);
/// Whether a run puts a file of this name, or has it in the making, into its folder of time-sorted hits.
bool is_sorted_name(const std::string& name);
/// Whether a file is a manifest or a time-sorted stream.
bool is_sorted_file(const std::filesystem::path& file);
/// Whether the folder has the hits of a run that has ended.
bool has_sorted_hits(const std::filesystem::path& folder);
/// Makes the folder, or removes from it what an earlier run has left; what else has such names is left alone. Throws
/// UserError.
void prepare_sorted_folder(const std::filesystem::path& folder);

}  // namespace eventloom
