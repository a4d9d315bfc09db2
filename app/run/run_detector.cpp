#include "app/run/run_detector.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/runtime/error.hpp"
#include "formats/text_file.hpp"
#include "io/registry/open_sources.hpp"
#include "io/registry/registry.hpp"

namespace eventloom {

namespace {

/// Its names are displayed and stored in files.
bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(nlohmann::json(text).dump());
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

std::string names_of(const Detector& detector, GroupSet groups) {
  std::string names;
  for (; groups != 0; groups &= groups - 1) {
    names += (names.empty() ? "" : ";") + detector.groups()[static_cast<std::size_t>(std::countr_zero(groups))];
  }
  return names;
}

/// Adds the ranges of channels with any entry in the detector.
void add_ranges(const Detector& detector, std::uint16_t source, std::vector<DetectorRange>& ranges) {
  constexpr std::uint32_t kLastChannel = 0xfffffff;
  std::optional<DetectorRange> open;
  const auto close = [&](std::uint32_t last) {
    if (open) ranges.push_back(*open);
    if (open) ranges.back().last_channel = last;
    open.reset();
  };
  detector.visit(source, [&](std::uint32_t low, const ChannelInfo& info) {
    if (low != 0) close(low - 1);
    if (info == ChannelInfo{}) return;
    auto& range = open.emplace();
    range.source = source;
    range.first_channel = low;
    range.offset = info.offset;
    range.masked = info.masked;
    range.min_payload = info.min_payload;
    range.max_payload = info.max_payload;
    range.groups = names_of(detector, info.groups);
    range.name = info.name;
    if (info.position) range.position = *info.position;
    range.scale = info.calibration;
    range.unit = info.unit;
  });
  close(kLastChannel);
}

/// Returns the detector as recorded in the output.
DetectorRecord record_of(const DetectorOptions& options, const Detector& detector) {
  DetectorRecord record{options.map.file, options.map.text, {}, {}};
  for (const auto& group : options.groups) record.groups.push_back(group.text);
  if (record.empty()) return record;
  for (std::size_t s = 0; s < detector.sources(); ++s) {
    add_ranges(detector, static_cast<std::uint16_t>(s), record.ranges);
  }
  return record;
}

bool corrects(const DetectorRow& row) { return row.offset || row.mask || row.min_payload || row.max_payload; }

DetectorRow without_corrections(DetectorRow row) {
  row.offset.reset();
  row.mask.reset();
  row.min_payload.reset();
  row.max_payload.reset();
  return row;
}

}  // namespace

DetectorMap read_detector_map(const std::string& file) {
  constexpr std::uint64_t kMostBytes = 64U << 20;
  try {
    auto text = read_text_file(file, kMostBytes);
    if (!is_utf8(text)) throw UserError(file + ": it is not text in UTF-8");
    return parse_detector_map(std::move(text), file);
  } catch (const std::invalid_argument& e) {
    throw UserError("--detector: " + std::string(e.what()));
  }
}

DetectorPtr named_groups(const DetectorOptions& options) {
  return std::make_shared<Detector>(named_groups(options.map, options.groups));
}

void take_kept_detector(DetectorOptions& options, std::span<const std::string> sources) {
  for (const auto& text : sources) {
    if (auto manifest = sorted_manifest(parse_source_uri(text))) options.kept = std::move(manifest->detector);
  }
  const auto& kept = options.kept;
  const bool other = !options.map.text.empty() && options.map.text != kept.map;
  if (other && kept.corrected && std::ranges::any_of(options.map.rows, corrects)) {
    throw UserError("--detector " + options.map.file +
                    ": the time-sorted hits were corrected by the offsets, masks or cuts of '" + kept.file +
                    "' when they were saved: this map must not have any");
  }
  if (options.map.text.empty() && !kept.map.empty()) options.map = parse_detector_map(kept.map, kept.file);
  for (const auto& group : kept.groups) {
    if (std::ranges::find(options.groups, group, &GroupOption::text) == options.groups.end()) {
      options.groups.push_back(parse_group_option(group));
    }
  }
}

RunDetector detector_of(const DetectorOptions& options, const DetectorSources& sources) {
  auto detector = std::make_shared<const Detector>(resolve_detector(options.map, options.groups, sources));
  RunDetector all{detector, record_of(options, *detector), {}};
  const bool corrected = options.kept.corrected;
  all.kept = {all.record.file, all.record.map, all.record.groups, corrected || detector->corrects()};
  if (!corrected) return all;
  auto rest = options.map;
  for (auto& row : rest.rows) row = without_corrections(row);
  all.detector = std::make_shared<const Detector>(resolve_detector(rest, options.groups, sources));
  return all;
}

}  // namespace eventloom
