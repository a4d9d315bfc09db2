#include "app/run/run_detector.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "app/command/utf8.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/setting.hpp"
#include "formats/text_file.hpp"
#include "io/registry/open_sources.hpp"
#include "io/registry/registry.hpp"

namespace eventloom {

namespace {

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
    range.dead_time = info.dead_time;
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

DetectorPtr resolved(const DetectorMap& map, const DetectorOptions& options, const DetectorSources& sources) {
  auto detector = resolve_detector(map, options.groups, sources);
  apply_dead_times(options.dead_times, sources, detector);
  return std::make_shared<const Detector>(std::move(detector));
}

bool corrects(const DetectorRow& row) { return row.offset || row.mask || row.min_payload || row.max_payload; }

bool has_dead_times(const DetectorMap& map) { return longest_dead_time(map, {}, 1) > 0; }

/// Removes what has been applied to the saved hits.
DetectorRow to_be_applied(DetectorRow row, const KeptDetector& kept) {
  if (kept.corrected) {
    row.offset.reset();
    row.mask.reset();
    row.min_payload.reset();
    row.max_payload.reset();
  }
  if (kept.thinned) row.dead_time.reset();
  return row;
}

/// Throws UserError if the options would apply once more what has been applied to the saved hits.
void require_applied_once(const DetectorOptions& options) {
  const auto& [map, groups, dead_times, kept] = options;
  const std::string saved = "the time-sorted hits were ";
  if (kept.thinned && !dead_times.empty()) {
    throw UserError(name_of(Setting::dead_time) + " " + dead_times.front().text + ": " + saved +
                    "saved without those within dead times, and others cannot be applied to the rest: omit the option");
  }
  if (map.text.empty() || map.text == kept.map) return;
  const auto place = name_of(Setting::detector) + " " + map.file + ": " + saved;
  if (kept.corrected && std::ranges::any_of(map.rows, corrects)) {
    throw UserError(place + "corrected by the offsets, masks or cuts of '" + kept.file +
                    "' when they were saved: this map must not have any");
  }
  if (kept.thinned && has_dead_times(map)) {
    throw UserError(place + "saved without those within dead times: this map must not have any");
  }
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
    if (!text.starts_with("sorted:")) continue;  // no file's name or contents imply this scheme
    if (auto manifest = sorted_manifest(parse_source_uri(text))) options.kept = std::move(manifest->detector);
  }
  auto& kept = options.kept;
  auto map = kept.map.empty() ? DetectorMap{} : parse_detector_map(kept.map, kept.file);
  // Manifests of earlier versions do not say it: dead times of a map were always applied.
  kept.thinned = kept.thinned || has_dead_times(map);
  require_applied_once(options);
  if (options.map.text.empty()) options.map = std::move(map);
  for (const auto& group : kept.groups) {
    if (std::ranges::find(options.groups, group, &GroupOption::text) == options.groups.end()) {
      options.groups.push_back(parse_group_option(group));
    }
  }
}

RunDetector detector_of(const DetectorOptions& options, const DetectorSources& sources) {
  const auto detector = resolved(options.map, options, sources);
  RunDetector all{detector, record_of(options, *detector), {}};
  const auto& kept = options.kept;
  all.kept = {all.record.file, all.record.map, all.record.groups, kept.corrected || detector->corrects(),
              kept.thinned || detector->longest_dead_time() > 0};
  if (!kept.corrected && !kept.thinned) return all;
  auto rest = options.map;
  for (auto& row : rest.rows) row = to_be_applied(row, kept);
  all.detector = resolved(rest, options, sources);
  return all;
}

}  // namespace eventloom
