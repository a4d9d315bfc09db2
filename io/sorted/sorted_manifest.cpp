#include "io/sorted/sorted_manifest.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "core/runtime/error.hpp"
#include "core/runtime/json.hpp"
#include "formats/stream_file.hpp"
#include "formats/text_file.hpp"
#include "io/epochs/stream_writer.hpp"
#include "io/files/durable.hpp"
#include "io/files/folder.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

namespace {

constexpr const char* kManifest = "sorted.json";
constexpr const char* kFormat = "eventloom-sorted";
constexpr int kVersion = 1;
constexpr std::string_view kPrefix = "builder_";
constexpr std::string_view kEnding = ".epochs";

Json manifest_json(const SortedOrigin& origin) {
  return {{"name", origin.name},           {"uri", origin.uri},
          {"path", origin.input.path},     {"bytes", origin.input.bytes},
          {"crc32c", origin.input.crc32c}, {"id", origin.id},
          {"flags", origin.flags},         {"has_payload", origin.has_payload},
          {"text", origin.text},           {"payload_names", origin.payload_names}};
}

SortedOrigin origin_from(const Json& json) {
  const InputFile input{json.at("path"), json.at("bytes"), json.at("crc32c")};
  const std::vector<std::string> none;  // manifests of earlier versions lack them
  return {json.at("name"),  json.at("uri"),         input,           json.at("id"),
          json.at("flags"), json.at("has_payload"), json.at("text"), json.value("payload_names", none)};
}

Json manifest_json(const SortedFile& file) {
  return {{"builder", file.builder}, {"name", sorted_file_name(file.builder)},
          {"bytes", file.bytes},     {"hits", file.hits},
          {"crc32c", file.crc32c},   {"end_epoch", file.end_epoch.value}};
}

SortedFile file_from(const Json& json) {
  const SortedFile file{json.at("builder"), json.at("bytes"), json.at("hits"), json.at("crc32c"),
                        Epoch(json.at("end_epoch").get<std::uint64_t>())};
  const std::string name = json.at("name");
  if (name != sorted_file_name(file.builder)) throw std::runtime_error("a stream of the unknown name '" + name + "'");
  return file;
}

Json manifest_json(const Damage& damage) {
  return {{"source", damage.origin},
          {"first_epoch", damage.first_epoch.value},
          {"n_epochs", damage.n_epochs.value},
          {"file_offset", damage.file_offset},
          {"hits", damage.n_hits},
          {"cause", kDropCauseNames[static_cast<std::size_t>(damage.cause)]}};
}

Damage damage_from(const Json& json) {
  Damage damage;
  damage.origin = json.at("source");
  json.at("first_epoch").get_to(damage.first_epoch.value);
  json.at("n_epochs").get_to(damage.n_epochs.value);
  damage.file_offset = json.at("file_offset");
  damage.n_hits = json.at("hits");
  const auto* const cause = std::ranges::find(kDropCauseNames, json.at("cause").get<std::string>());
  if (cause == kDropCauseNames.end()) throw std::runtime_error("unknown cause of loss");
  damage.cause = static_cast<DropCause>(cause - kDropCauseNames.begin());
  return damage;
}

template <class Items>
Json manifest_list(const Items& items) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(manifest_json(item));
  return list;
}

Json manifest_json(const KeptDetector& detector) {
  return {{"file", detector.file},
          {"map", detector.map},
          {"groups", detector.groups},
          {"corrected", detector.corrected},
          {"thinned", detector.thinned}};
}

KeptDetector detector_from(const Json& json) {
  const bool thinned = json.value("thinned", false);  // manifests of earlier versions lack it
  return {json.at("file"), json.at("map"), json.at("groups"), json.at("corrected"), thinned};
}

void add_lists(const Json& json, std::vector<SortedFile>& files, std::vector<Damage>& damage) {
  for (const auto& item : json.at("files")) files.push_back(file_from(item));
  for (const auto& item : json.at("damage")) damage.push_back(damage_from(item));
}

}  // namespace

Epoch SortedManifest::end_epoch() const {
  Epoch end = 0;
  for (const auto& file : files) end = std::max(end, file.end_epoch);
  for (const auto& item : damage) end = std::max(end, item.first_epoch + 1);
  return end;
}

std::string sorted_file_name(std::uint32_t builder) {
  char number[16];
  std::snprintf(number, sizeof number, "%05u", builder);
  return std::string(kPrefix) + number + std::string(kEnding);
}

void write_sorted_manifest(const std::filesystem::path& folder, const SortedManifest& manifest) {
  Json json{{"format", kFormat},
            {"version", kVersion},
            {"tick_ps", manifest.base.tick_ps},
            {"epoch_ticks", manifest.base.epoch_ticks},
            {"definition", manifest.definition},
            {"overlap_ticks", manifest.overlap.value},
            {"histogram_bin_ticks", manifest.bin_ticks.value},
            {"anomalies", manifest.anomalies},
            {"sources", manifest_list(manifest.sources)},
            {"files", manifest_list(manifest.files)},
            {"damage", manifest_list(manifest.damage)}};
  if (!manifest.detector.empty()) json["detector"] = manifest_json(manifest.detector);
  write_text_file(folder / kManifest, json.dump(1) + "\n", is_sorted_file);
}

SortedManifest read_sorted_manifest(const std::filesystem::path& folder) {
  const auto path = folder / kManifest;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw UserError("'" + folder.string() + "' has no finished time-sorted streams: " + kManifest +
                    " is missing; 'eventloom run --save-sorted' writes such a folder");
  }
  try {
    constexpr std::uint64_t kMostBytes = 1U << 30;
    const Json json = Json::parse(read_text_file(path, kMostBytes));
    if (json.at("format") != kFormat || json.at("version") != kVersion) throw std::runtime_error("unknown version");
    SortedManifest manifest;
    manifest.base = {json.at("tick_ps"), json.at("epoch_ticks")};
    manifest.definition = json.at("definition");
    json.at("overlap_ticks").get_to(manifest.overlap.value);
    json.at("histogram_bin_ticks").get_to(manifest.bin_ticks.value);
    manifest.anomalies = json.at("anomalies");
    for (const auto& item : json.at("sources")) manifest.sources.push_back(origin_from(item));
    if (json.contains("detector")) manifest.detector = detector_from(json["detector"]);
    add_lists(json, manifest.files, manifest.damage);
    for (const auto& item : manifest.damage) {
      if (item.origin != kAllOrigins && item.origin >= manifest.sources.size()) {
        throw std::runtime_error("a loss of source " + std::to_string(item.origin) + ", which does not exist");
      }
    }
    return manifest;
  } catch (const std::exception& e) {
    throw UserError("'" + path.string() + "' is not a list of time-sorted streams: " + e.what());
  }
}

bool is_sorted_name(const std::string& name) {
  std::string_view whole(name);
  if (whole.ends_with(kPartial)) whole.remove_suffix(std::strlen(kPartial));
  return whole == kManifest || (whole.starts_with(kPrefix) && whole.ends_with(kEnding));
}

bool is_sorted_file(const std::filesystem::path& file) {
  if (is_json_of(file, kFormat)) return true;
  StreamFileHeader header;
  const auto head = head_of(file, sizeof header);
  if (!is_stream_file(file) || head.size() < sizeof header) return false;
  std::memcpy(&header, head.data(), sizeof header);
  return (header.flags & kSorted) != 0;
}

bool has_sorted_hits(const std::filesystem::path& folder) { return is_json_of(folder / kManifest, kFormat); }

void prepare_sorted_folder(const std::filesystem::path& folder) {
  create_folder_durably(folder);
  // The manifest is removed first: if a later step fails, the folder does not count as a finished run.
  if (has_sorted_hits(folder)) remove_own(folder / kManifest, is_sorted_file);
  for (const auto& file : entries_in(folder)) {
    if (is_sorted_name(file.filename().string()) && is_sorted_file(file)) remove_own(file, is_sorted_file);
  }
}

}  // namespace eventloom
