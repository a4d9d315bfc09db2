#include "io/run_format/detector_table.hpp"

#include <limits>

#include "core/runtime/error.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/record_columns.hpp"
#include "io/hdf5/text_column.hpp"

namespace eventloom {

namespace {

const ColumnSpec kSource = {"/detector/source", ElementType::u32, "number of the source"};
const ColumnSpec kFirst = {"/detector/first_channel", ElementType::u32, "first channel of the row"};
const ColumnSpec kLast = {"/detector/last_channel", ElementType::u32, "last channel of the row"};
const ColumnSpec kOffset = {"/detector/offset_ticks", ElementType::i64,
                            "added to the times of the hits; those in this file are corrected", true};
const ColumnSpec kRangeDeadTime = {"/detector/dead_time", ElementType::u64,
                                   "hits this soon after a hit of the channel that counted were dropped; 0: none",
                                   true};
const ColumnSpec kMask = {"/detector/mask", ElementType::u32, "1: the hits were dropped"};
const ColumnSpec kLeast = {"/detector/min_payload", ElementType::f64,
                           "hits with a smaller first payload word were dropped"};
const ColumnSpec kMost = {"/detector/max_payload", ElementType::f64,
                          "hits with a greater first payload word were dropped"};
const ColumnSpec kGain = {"/detector/gain", ElementType::f64, "value = gain x (first payload word) + zero"};
const ColumnSpec kZero = {"/detector/zero", ElementType::f64, "value = gain x (first payload word) + zero"};
const ColumnSpec kX = {"/detector/x_m", ElementType::f64, "position; NaN: not known", false, {}, "m"};
const ColumnSpec kY = {"/detector/y_m", ElementType::f64, "position; NaN: not known", false, {}, "m"};
const ColumnSpec kZ = {"/detector/z_m", ElementType::f64, "position; NaN: not known", false, {}, "m"};

constexpr const char* kDetectorGroup = "/detector";
constexpr const char* kGroups = "/detector/group";
constexpr const char* kChannelNames = "/detector/name";
constexpr const char* kUnitsDataset = "/detector/unit";
constexpr const char* kMap = "/detector/map";

H5Id open_detector(hid_t file) {
  H5Id group = open_object(file, kDetectorGroup);
  check(group.get(), kDetectorGroup);
  return group;
}

void read_values(hid_t file, const std::string& name, std::vector<DetectorRange>& ranges) {
  const auto reals = [&](const ColumnSpec& spec) { return read_column<double>(file, name, spec, ranges.size()); };
  const auto least = reals(kLeast);
  const auto most = reals(kMost);
  const auto gains = reals(kGain);
  const auto zeros = reals(kZero);
  const auto units = read_text_column(file, kUnitsDataset);
  if (units.size() != ranges.size()) throw UserError("/detector has columns of different length");
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    ranges[i].min_payload = least[i];
    ranges[i].max_payload = most[i];
    ranges[i].scale = {gains[i], zeros[i]};
    ranges[i].unit = units[i];
  }
}

/// Files of earlier versions have no gains, and bounds of 32 bits, of which 0 and the largest meant none.
void read_old_bounds(hid_t file, const std::string& name, std::vector<DetectorRange>& ranges) {
  constexpr auto kLargest = std::numeric_limits<std::uint32_t>::max();
  const auto bounds = [&](ColumnSpec spec) {
    spec.type = ElementType::u32;
    return read_column<std::uint32_t>(file, name, spec, ranges.size());
  };
  const auto least = bounds(kLeast);
  const auto most = bounds(kMost);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (least[i] != 0) ranges[i].min_payload = least[i];
    if (most[i] != kLargest) ranges[i].max_payload = most[i];
  }
}

}  // namespace

void write_detector(const OutputFile& file, const DetectorRecord& detector, std::uint64_t tick_ps) {
  if (detector.empty()) return;
  create_group(file.id(), kDetectorGroup);
  const H5Id group = open_detector(file.id());
  write_attribute(group.get(), "file", detector.file);
  write_attribute(group.get(), "groups", detector.groups);
  write_attribute(group.get(), "meaning",
                  "what --detector and --group say: `map` holds the text of the map; the columns have a row for each "
                  "range of channels of which anything is known");
  write_texts(file.id(), kMap, {detector.map});
  const auto& ranges = detector.ranges;
  write_fields<std::uint32_t>(file, kSource, ranges, &DetectorRange::source);
  write_fields<std::uint32_t>(file, kFirst, ranges, &DetectorRange::first_channel);
  write_fields<std::uint32_t>(file, kLast, ranges, &DetectorRange::last_channel);
  std::vector<std::int64_t> offsets;
  for (const auto& range : ranges) offsets.push_back(range.offset);
  ColumnWriter column(file, kOffset, {.tick_ps = tick_ps});
  column.append(std::span<const std::int64_t>(offsets));
  column.finish();
  ColumnWriter dead(file, kRangeDeadTime, {.tick_ps = tick_ps});
  for (const auto& range : ranges) dead.append(std::span(&range.dead_time.value, 1));
  dead.finish();
  write_fields<std::uint32_t>(file, kMask, ranges, [](const DetectorRange& r) { return r.masked ? 1U : 0U; });
  write_fields<double>(file, kLeast, ranges, &DetectorRange::min_payload);
  write_fields<double>(file, kMost, ranges, &DetectorRange::max_payload);
  write_fields<double>(file, kGain, ranges, [](const DetectorRange& r) { return r.scale.gain; });
  write_fields<double>(file, kZero, ranges, [](const DetectorRange& r) { return r.scale.zero; });
  write_fields<double>(file, kX, ranges, [](const DetectorRange& r) { return r.position.x; });
  write_fields<double>(file, kY, ranges, [](const DetectorRange& r) { return r.position.y; });
  write_fields<double>(file, kZ, ranges, [](const DetectorRange& r) { return r.position.z; });
  write_text_fields(file, kGroups, ranges, &DetectorRange::groups);
  write_text_fields(file, kChannelNames, ranges, &DetectorRange::name);
  write_text_fields(file, kUnitsDataset, ranges, &DetectorRange::unit);
}

DetectorRecord read_detector(hid_t file, const std::string& name) {
  DetectorRecord detector;
  if (!has_object(file, kDetectorGroup)) return detector;
  const H5Id group = open_detector(file);
  detector.file = read_text(group.get(), "file");
  detector.groups = read_texts(group.get(), "groups");
  const auto map = read_text_column(file, kMap);
  if (map.size() != 1) throw UserError("/detector/map does not hold one text");
  detector.map = map.front();
  const auto groups = read_text_column(file, kGroups);
  const auto names = read_text_column(file, kChannelNames);
  const std::size_t n = groups.size();
  if (names.size() != n) throw UserError("/detector has columns of different length");
  const auto numbers = [&](const ColumnSpec& spec) { return read_column<std::uint32_t>(file, name, spec, n); };
  const auto metres = [&](const ColumnSpec& spec) { return read_column<double>(file, name, spec, n); };
  const auto sources = numbers(kSource);
  const auto first = numbers(kFirst);
  const auto last = numbers(kLast);
  const auto masks = numbers(kMask);
  const auto offsets = read_column<std::int64_t>(file, name, kOffset, n);
  // Files of earlier versions lack it.
  const auto dead = has_object(file, kRangeDeadTime.path) ? read_column<std::uint64_t>(file, name, kRangeDeadTime, n)
                                                          : std::vector<std::uint64_t>(n);
  const auto x = metres(kX);
  const auto y = metres(kY);
  const auto z = metres(kZ);
  for (std::size_t i = 0; i < n; ++i) {
    auto& range = detector.ranges.emplace_back();
    range.source = sources[i];
    range.first_channel = first[i];
    range.last_channel = last[i];
    range.offset = offsets[i];
    range.dead_time = Tick(dead[i]);
    range.masked = masks[i] != 0;
    range.groups = groups[i];
    range.name = names[i];
    range.position = {x[i], y[i], z[i]};
  }
  if (has_object(file, kGain.path)) {
    read_values(file, name, detector.ranges);
  } else {
    read_old_bounds(file, name, detector.ranges);
  }
  return detector;
}

}  // namespace eventloom
