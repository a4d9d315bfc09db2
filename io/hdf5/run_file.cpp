#include "io/hdf5/run_file.hpp"

#include <hdf5.h>
#include <spdlog/fmt/fmt.h>

#include <sstream>
#include <stdexcept>

#include "core/runtime/error.hpp"
#include "formats/utc_time.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/column_cursor.hpp"
#include "io/hdf5/detector_table.hpp"
#include "io/hdf5/event_file_table.hpp"
#include "io/hdf5/ledger_reader.hpp"
#include "io/hdf5/record_columns.hpp"
#include "io/hdf5/run_index.hpp"
#include "io/hdf5/seal.hpp"
#include "io/hdf5/tables_writer.hpp"
#include "io/hdf5/text_column.hpp"
#include "io/hdf5/total_attributes.hpp"

namespace eventloom {

namespace {

const ColumnSpec kSourceBytes = {"/sources/bytes", ElementType::u64,
                                 "size of the input file in bytes; 0 without a file"};
const ColumnSpec kSourceCrc = {
    "/sources/crc32c", ElementType::u32,
    "CRC32C of the input file; of an .epochs file: of its header and its index, which holds those of all buffers"};
const ColumnSpec kSourceId = {"/sources/id", ElementType::u32, "source id recorded in the stream"};

constexpr auto kInvocationFolder = "/invocations/folder";

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

/// By expression: each was asked about all events.
void write_filter_counts(hid_t root, const RunRecord& record) {
  const auto& totals = record.totals;
  std::vector<std::uint64_t> rejected = totals.rejected_by;
  rejected.resize(record.filters.size());
  std::vector<std::uint64_t> accepted;
  for (const auto n : rejected) accepted.push_back(totals[Metric::events] + totals[Metric::events_rejected] - n);
  write_attribute(root, "filters_accepted", accepted);
  write_attribute(root, "filters_rejected", rejected);
}

void write_record(hid_t root, const RunRecord& record) {
  write_attribute(root, "format", kRunFormat);
  write_attribute(root, "format_version", kOutputVersion);
  write_attribute(root, "closed", std::uint64_t{record.closed});
  write_attribute(root, "setup", record.setup);
  write_attribute(root, "definition", record.definition);
  write_attribute(root, "filters", record.filters);
  if (!record.filters.empty()) write_filter_counts(root, record);
  if (!record.began.empty()) write_attribute(root, "began", record.began);
  if (!record.ended.empty()) write_attribute(root, "ended", record.ended);
  if (!record.command_lines.empty()) write_attribute(root, "command_lines", record.command_lines);
  if (!record.time_of_tick_0.empty()) write_attribute(root, "time_of_tick_0", record.time_of_tick_0);
  write_attribute(root, "eventloom_version", record.eventloom_version);
  if (!record.eventloom_commit.empty()) write_attribute(root, "eventloom_commit", record.eventloom_commit);
  write_attribute(root, "mpi_version", record.mpi_version);
  write_attribute(root, "ucx_version", record.ucx_version);
  write_attribute(root, "hdf5_version", hdf5_version());
  write_attribute(root, "hosts", record.hosts);
  write_attribute(root, "commands", record.commands);
  write_attribute(root, "tick_ps", record.base.tick_ps);
  write_attribute(root, "epoch_ticks", std::uint64_t{record.base.epoch_ticks});
  write_attribute(root, "epochs_per_slice", record.epochs_per_slice);
  write_attribute(root, "overlap_ticks", record.overlap);
  write_attribute(root, "with_payload", std::uint64_t{record.with_payload});
  write_attribute(root, "times_are", record.numbered ? "event numbers" : "ticks since the start of the run");
  write_attribute(root, "n_sources", std::uint64_t{record.sources.size()});
  write_totals(root, record.totals);
}

/// Beside the attributes of invocations, which the merged file does not have either.
void write_folders(const OutputFile& file, const RunRecord& record) {
  if (record.folders.empty()) return;
  create_group(file.id(), "/invocations");
  write_texts(file.id(), kInvocationFolder, record.folders);
}

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
}

std::string read_text_if_any(hid_t root, const char* name) {
  return has_attribute(root, name) ? read_text(root, name) : "";
}

std::vector<std::string> read_texts_if_any(hid_t root, const char* name) {
  return has_attribute(root, name) ? read_texts(root, name) : std::vector<std::string>();
}

/// What files of earlier versions, merged files and runs that have not ended lack.
void read_about_invocations(hid_t root, RunRecord& record) {
  record.began = read_text_if_any(root, "began");
  record.ended = read_text_if_any(root, "ended");
  record.command_lines = read_texts_if_any(root, "command_lines");
  if (has_object(root, kInvocationFolder)) record.folders = read_text_column(root, kInvocationFolder);
  record.commands = read_texts_if_any(root, "commands");
  record.time_of_tick_0 = read_text_if_any(root, "time_of_tick_0");
  record.missing = read_text_if_any(root, "missing");
  record.eventloom_commit = read_text_if_any(root, "eventloom_commit");
}

RunRecord read_record(hid_t root) {
  RunRecord record;
  read_about_invocations(root, record);
  record.closed = read_number(root, "closed") != 0;
  record.setup = read_text(root, "setup");
  record.definition = read_text(root, "definition");
  record.filters = read_texts(root, "filters");
  record.eventloom_version = read_text(root, "eventloom_version");
  record.mpi_version = read_text(root, "mpi_version");
  record.ucx_version = read_text(root, "ucx_version");
  record.hdf5_version = read_text(root, "hdf5_version");
  record.hosts = read_texts(root, "hosts");
  record.base = {read_number(root, "tick_ps"), static_cast<std::uint32_t>(read_number(root, "epoch_ticks"))};
  record.epochs_per_slice = read_number(root, "epochs_per_slice");
  record.overlap = read_number(root, "overlap_ticks");
  record.with_payload = read_number(root, "with_payload") != 0;
  record.numbered = read_text_if_any(root, "times_are") == "event numbers";
  read_totals(root, record.totals);
  return record;
}

std::vector<SourceRecord> read_source_columns(hid_t file, const std::string& name) {
  const auto names = read_text_column(file, "/sources/name");
  const auto uris = read_text_column(file, "/sources/uri");
  const auto paths = read_text_column(file, "/sources/path");
  const auto descriptions = has_object(file, "/sources/description") ? read_text_column(file, "/sources/description")
                                                                     : std::vector<std::string>(names.size());
  const auto bytes = read_column<std::uint64_t>(file, name, kSourceBytes, names.size());
  const auto crcs = read_column<std::uint32_t>(file, name, kSourceCrc, names.size());
  const auto ids = read_column<std::uint32_t>(file, name, kSourceId, names.size());
  if (uris.size() != names.size() || paths.size() != names.size() || descriptions.size() != names.size()) {
    throw UserError("/sources has columns of different length");
  }
  std::vector<SourceRecord> sources;
  for (std::size_t i = 0; i < names.size(); ++i) {
    sources.push_back({names[i], uris[i], {paths[i], bytes[i], crcs[i]}, ids[i], descriptions[i]});
  }
  return sources;
}

/// Files of earlier versions do not say.
void read_part_sums(hid_t file, const std::string& name, std::vector<PartInfo>& parts) {
  if (!has_object(file, kPartSum.path)) return;
  const auto sums = read_column<std::int64_t>(file, name, kPartSum, parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (sums[i] != kNoSum) parts[i].datasets_sum = static_cast<std::uint32_t>(sums[i]);
  }
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
  return parts;
}

void expect_run_file(hid_t root) {
  if (!has_attribute(root, "format") || read_text(root, "format") != kRunFormat) {
    throw UserError("not the run file of an Eventloom run (the run.h5 that 'eventloom run' writes)");
  }
  const auto version = read_number(root, "format_version");
  if (version != kOutputVersion) {
    throw UserError(fmt::format("format version {}, this program reads version {}", version, kOutputVersion));
  }
}

}  // namespace

std::string hdf5_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  check(H5get_libversion(&major, &minor, &release), "asking for the version of HDF5");
  return fmt::format("{}.{}.{}", major, minor, release);
}

void write_sources(const OutputFile& file, const std::vector<SourceRecord>& sources) {
  create_group(file.id(), "/sources");
  write_text_fields(file, "/sources/name", sources, &SourceRecord::name);
  write_text_fields(file, "/sources/uri", sources, &SourceRecord::uri);
  write_text_fields(file, "/sources/path", sources, [](const SourceRecord& s) { return s.input.path; });
  write_text_fields(file, "/sources/description", sources, &SourceRecord::description);
  write_fields<std::uint64_t>(file, kSourceBytes, sources, [](const SourceRecord& s) { return s.input.bytes; });
  write_fields<std::uint32_t>(file, kSourceCrc, sources, [](const SourceRecord& s) { return s.input.crc32c; });
  write_fields<std::uint32_t>(file, kSourceId, sources, &SourceRecord::id);
}

std::vector<std::string> setup_options(const RunRecord& record, const std::string& name) {
  std::vector<std::string> values;
  std::istringstream lines(record.setup);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + " = ")) values.push_back(line.substr(name.size() + 3));
  }
  return values;
}

std::string setup_option(const RunRecord& record, const std::string& name) {
  const auto values = setup_options(record, name);
  return values.empty() ? "" : values.front();
}

std::optional<std::string> utc_of_tick(const RunRecord& record, Tick tick) {
  if (record.time_of_tick_0.empty() || record.numbered) return std::nullopt;
  try {
    return utc_text(parse_unix_ns(record.time_of_tick_0), tick, record.base.tick_ps);
  } catch (const std::invalid_argument& e) {
    throw UserError("the attribute 'time_of_tick_0': " + std::string(e.what()));
  }
}

unsigned compress_of(const RunRecord& record) {
  const auto level = setup_option(record, "compress");
  return level.size() == 1 && level >= "0" && level <= "9" ? static_cast<unsigned>(level[0] - '0') : 0;
}

void write_run_file(const std::filesystem::path& path, const RunRecord& record, std::span<const PartInfo> parts,
                    const RunStatistics& statistics) {
  OutputFile file(path);
  file.fill([&] {
    write_record(file.id(), record);
    write_folders(file, record);
    write_sources(file, record.sources);
    write_detector(file, record.detector, record.base.tick_ps);
    write_parts(file, parts);
    write_event_files(file, parts);
    LedgerTable ledger(file, {.tick_ps = record.base.tick_ps}, record.sources.size() > kMaskedSources);
    merge_ledgers(path.parent_path(), parts, [&](const LedgerEntry& entry) {
      ledger.append(entry.row, entry.sources_missing, entry.missing_mask);
    });
    ledger.finish();
    write_statistics(file, statistics);
    seal_file(file.id());
  });
  file.close();
  file.publish();
}

RunFile read_run_file(const std::filesystem::path& path) {
  refuse_index(path);
  const H5Id file = open_for_reading(path);
  try {
    expect_run_file(file.get());
    check_seal(file.get());
    RunFile run{read_record(file.get()), read_parts(file.get(), path.string())};
    read_event_files(file.get(), path.string(), run.parts);
    run.record.sources = read_source_columns(file.get(), path.string());
    run.record.detector = read_detector(file.get(), path.string());
    return run;
  } catch (const std::runtime_error& e) {
    throw UserError("'" + path.string() + "': " + e.what());
  }
}

RunRecord read_run_record(const std::filesystem::path& path) {
  const H5Id file = open_for_reading(path);
  auto record = read_record(file.get());
  record.sources = read_source_columns(file.get(), path.string());
  record.detector = read_detector(file.get(), path.string());
  return record;
}

std::vector<std::filesystem::path> files_of_run(const std::filesystem::path& run_file) {
  std::vector<std::filesystem::path> files = {run_file};
  for (const auto& part : read_run_file(run_file).parts) files.push_back(run_file.parent_path() / part.name);
  return files;
}

}  // namespace eventloom
