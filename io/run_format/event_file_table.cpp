#include "io/run_format/event_file_table.hpp"

#include <cstdint>

#include "core/runtime/error.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/record_columns.hpp"
#include "io/hdf5/text_column.hpp"

namespace eventloom {

namespace {

constexpr const char* kEventFilesGroup = "/event_files";
constexpr const char* kEventFileName = "/event_files/name";
const ColumnSpec kEventFilePart = {"/event_files/part", ElementType::u64,
                                   "row of its part in /parts; 0 in a merged file"};
const ColumnSpec kEventFileNumber = {"/event_files/number", ElementType::u32,
                                     "number of the file among those of its writer and format"};
const ColumnSpec kEventFileEvents = {"/event_files/events", ElementType::u64, "number of events"};
const ColumnSpec kEventFileBytes = {"/event_files/bytes", ElementType::u64, "size of the file in bytes"};

}  // namespace

void write_event_files(const OutputFile& file, std::span<const PartInfo> parts) {
  std::vector<EventFileInfo> files;
  std::vector<std::uint64_t> rows;
  for (std::size_t row = 0; row < parts.size(); ++row) {
    files.insert(files.end(), parts[row].event_files.begin(), parts[row].event_files.end());
    rows.resize(files.size(), row);
  }
  if (files.empty()) return;
  create_group(file.id(), kEventFilesGroup);
  write_text_fields(file, kEventFileName, files, &EventFileInfo::name);
  write_column(file, kEventFilePart, std::span<const std::uint64_t>(rows));
  write_fields<std::uint32_t>(file, kEventFileNumber, files, &EventFileInfo::number);
  write_fields<std::uint64_t>(file, kEventFileEvents, files, &EventFileInfo::events);
  write_fields<std::uint64_t>(file, kEventFileBytes, files, &EventFileInfo::bytes);
}

void read_event_files(hid_t file, const std::string& name, std::vector<PartInfo>& parts) {
  if (!has_object(file, kEventFilesGroup)) return;
  const auto names = read_text_column(file, kEventFileName);
  const auto rows = read_column<std::uint64_t>(file, name, kEventFilePart, names.size());
  const auto numbers = read_column<std::uint32_t>(file, name, kEventFileNumber, names.size());
  const auto events = read_column<std::uint64_t>(file, name, kEventFileEvents, names.size());
  const auto bytes = read_column<std::uint64_t>(file, name, kEventFileBytes, names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (rows[i] >= parts.size()) throw UserError("/event_files/part names a part that is not in /parts");
    parts[rows[i]].event_files.push_back({names[i], numbers[i], events[i], bytes[i]});
  }
}

}  // namespace eventloom
