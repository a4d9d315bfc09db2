#include "io/run_format/part_table.hpp"

#include "core/runtime/error.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/record_columns.hpp"
#include "io/hdf5/text_column.hpp"
#include "io/run_format/event_file_table.hpp"

namespace eventloom {

namespace {

const ColumnSpec kPartWriter = {"/parts/writer", ElementType::u32, "number of the writer"};
const ColumnSpec kPartSegment = {"/parts/segment", ElementType::u32, "number of the part among those of its writer"};
const ColumnSpec kPartFirst = {"/parts/first_slice", ElementType::u64, "first slice in the part"};
const ColumnSpec kPartLast = {"/parts/last_slice", ElementType::u64, "last slice in the part"};
const ColumnSpec kPartSlices = {"/parts/slices", ElementType::u64, "number of slices"};
const ColumnSpec kPartEvents = {"/parts/events", ElementType::u64, "number of events"};
const ColumnSpec kPartHits = {"/parts/hits", ElementType::u64, "number of hits"};
const ColumnSpec kPartBytes = {"/parts/bytes", ElementType::u64, "size of the file in bytes"};
const ColumnSpec kPartSum = {"/parts/datasets_crc32", ElementType::i64,
                             "CRC-32 of the texts of its attribute 'datasets', each with an end of line; -1: it was "
                             "written by an earlier version"};
constexpr std::int64_t kNoSum = -1;

/// Files of earlier versions lack the sums.
void read_part_sums(hid_t file, const std::string& name, std::vector<PartInfo>& parts) {
  if (!has_object(file, kPartSum.path)) return;
  const auto sums = read_column<std::int64_t>(file, name, kPartSum, parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (sums[i] != kNoSum) parts[i].datasets_sum = static_cast<std::uint32_t>(sums[i]);
  }
}

}  // namespace

void write_parts(const OutputFile& file, std::span<const PartInfo> parts) {
  create_group(file.id(), "/parts");
  write_text_fields(file, "/parts/name", parts, &PartInfo::name);
  write_fields<std::uint32_t>(file, kPartWriter, parts, &PartInfo::writer);
  write_fields<std::uint32_t>(file, kPartSegment, parts, &PartInfo::segment);
  write_fields<std::uint64_t>(file, kPartFirst, parts, &PartInfo::first_slice);
  write_fields<std::uint64_t>(file, kPartLast, parts, &PartInfo::last_slice);
  write_fields<std::uint64_t>(file, kPartSlices, parts, &PartInfo::slices);
  write_fields<std::uint64_t>(file, kPartEvents, parts, &PartInfo::events);
  write_fields<std::uint64_t>(file, kPartHits, parts, &PartInfo::hits);
  write_fields<std::uint64_t>(file, kPartBytes, parts, &PartInfo::bytes);
  write_fields<std::int64_t>(file, kPartSum, parts, [](const PartInfo& part) {
    return part.datasets_sum ? std::int64_t{*part.datasets_sum} : kNoSum;
  });
  write_event_files(file, parts);
}

std::vector<PartInfo> read_parts(hid_t file, const std::string& name) {
  const auto names = read_text_column(file, "/parts/name");
  std::vector<PartInfo> parts(names.size());
  const auto read = [&]<class T>(const ColumnSpec& spec, T PartInfo::*field) {
    const auto values = read_column<T>(file, name, spec, parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].*field = values[i];
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!is_part_name(names[i])) throw UserError("'" + names[i] + "' in /parts/name is not the name of a part");
    parts[i].name = names[i];
  }
  read(kPartWriter, &PartInfo::writer);
  read(kPartSegment, &PartInfo::segment);
  read(kPartFirst, &PartInfo::first_slice);
  read(kPartLast, &PartInfo::last_slice);
  read(kPartSlices, &PartInfo::slices);
  read(kPartEvents, &PartInfo::events);
  read(kPartHits, &PartInfo::hits);
  read(kPartBytes, &PartInfo::bytes);
  read_part_sums(file, name, parts);
  read_event_files(file, name, parts);
  return parts;
}

}  // namespace eventloom
