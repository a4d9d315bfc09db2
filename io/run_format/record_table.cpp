#include "io/run_format/record_table.hpp"

#include <algorithm>

#include "core/runtime/error.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/hdf5_version.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/hdf5/record_columns.hpp"
#include "io/hdf5/text_column.hpp"
#include "io/run_format/detector_table.hpp"
#include "io/run_format/histogram_table.hpp"
#include "io/run_format/hit_notes_table.hpp"
#include "io/run_format/total_attributes.hpp"

namespace eventloom {

namespace {

const ColumnSpec kSourceBytes = {"/sources/bytes", ElementType::u64,
                                 "size of the input file in bytes; 0 without a file"};
const ColumnSpec kSourceCrc = {
    "/sources/crc32c", ElementType::u32,
    "CRC32C of the input file; of an .epochs file: of its header and its index, which holds those of all buffers"};
const ColumnSpec kSourceId = {"/sources/id", ElementType::u32, "source id recorded in the stream"};

constexpr auto kSourcePayload = "/sources/payload";
constexpr auto kRunComment = "run_comment";
constexpr auto kInvocationFolder = "/invocations/folder";

void write_filter_counts(hid_t root, const RunRecord& record) {
  std::vector<std::uint64_t> rejected;
  std::vector<std::uint64_t> accepted;
  for (std::size_t i = 0; i < record.filters.size(); ++i) {
    const auto counts = counts_of_filter(record.filters, record.totals, i);
    accepted.push_back(counts.accepted);
    rejected.push_back(counts.rejected);
  }
  write_attribute(root, "filters_accepted", accepted);
  write_attribute(root, "filters_rejected", rejected);
}

void write_attributes(hid_t root, const RunRecord& record) {
  write_attribute(root, "format", kRunFormat);
  write_attribute(root, "format_version", kOutputVersion);
  write_attribute(root, "closed", std::uint64_t{record.closed});
  if (record.run_number) write_attribute(root, kRunNumber, *record.run_number);
  if (!record.run_comment.empty()) write_attribute(root, kRunComment, record.run_comment);
  write_attribute(root, "setup", record.setup);
  write_attribute(root, "definition", record.definition);
  write_attribute(root, "filters", record.filters);
  if (!record.filters.empty()) write_filter_counts(root, record);
  if (!record.histograms.empty()) write_attribute(root, kHistograms, record.histograms);
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
  write_attribute(root, "overlap_ticks", record.overlap.value);
  write_attribute(root, "with_payload", std::uint64_t{record.with_payload});
  write_hit_notes(root, record.hits);
  write_attribute(root, "times_are", record.numbered ? "event numbers" : "ticks since the start of the run");
  write_attribute(root, "n_sources", std::uint64_t{record.sources.size()});
  write_totals(root, record.totals);
}

std::string read_text_if_any(hid_t root, const char* name) {
  return has_attribute(root, name) ? read_text(root, name) : "";
}

std::vector<std::string> read_texts_if_any(hid_t root, const char* name) {
  return has_attribute(root, name) ? read_texts(root, name) : std::vector<std::string>();
}

/// Reads what files of earlier versions, merged files and unfinished runs may lack.
void read_about_invocations(hid_t root, RunRecord& record) {
  if (has_attribute(root, kRunNumber)) record.run_number = read_number(root, kRunNumber);
  record.run_comment = read_text_if_any(root, kRunComment);
  record.began = read_text_if_any(root, "began");
  record.ended = read_text_if_any(root, "ended");
  record.command_lines = read_texts_if_any(root, "command_lines");
  if (has_object(root, kInvocationFolder)) record.folders = read_text_column(root, kInvocationFolder);
  record.commands = read_texts_if_any(root, "commands");
  record.time_of_tick_0 = read_text_if_any(root, "time_of_tick_0");
  record.missing = read_text_if_any(root, "missing");
  record.eventloom_commit = read_text_if_any(root, "eventloom_commit");
}

RunRecord read_attributes(hid_t root) {
  RunRecord record;
  read_about_invocations(root, record);
  record.closed = read_number(root, "closed") != 0;
  record.setup = read_text(root, "setup");
  record.definition = read_text(root, "definition");
  record.filters = read_texts(root, "filters");
  if (has_attribute(root, kHistograms)) record.histograms = read_texts(root, kHistograms);
  record.eventloom_version = read_text(root, "eventloom_version");
  record.mpi_version = read_text(root, "mpi_version");
  record.ucx_version = read_text(root, "ucx_version");
  record.hdf5_version = read_text(root, "hdf5_version");
  record.hosts = read_texts(root, "hosts");
  record.base = {read_number(root, "tick_ps"), static_cast<std::uint32_t>(read_number(root, "epoch_ticks"))};
  record.epochs_per_slice = read_number(root, "epochs_per_slice");
  record.overlap = Tick(read_number(root, "overlap_ticks"));
  record.with_payload = read_number(root, "with_payload") != 0;
  record.hits = read_hit_notes(root);
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
  const auto payload = has_object(file, kSourcePayload) ? read_text_column(file, kSourcePayload)
                                                        : std::vector<std::string>(names.size());
  const auto bytes = read_column<std::uint64_t>(file, name, kSourceBytes, names.size());
  const auto crcs = read_column<std::uint32_t>(file, name, kSourceCrc, names.size());
  const auto ids = read_column<std::uint32_t>(file, name, kSourceId, names.size());
  if (uris.size() != names.size() || paths.size() != names.size() || descriptions.size() != names.size() ||
      payload.size() != names.size()) {
    throw UserError("/sources has columns of different length");
  }
  std::vector<SourceRecord> sources;
  for (std::size_t i = 0; i < names.size(); ++i) {
    sources.push_back({names[i], uris[i], {paths[i], bytes[i], crcs[i]}, ids[i], descriptions[i], payload[i]});
  }
  return sources;
}

}  // namespace

void write_folders(const OutputFile& file, const RunRecord& record) {
  if (record.folders.empty()) return;
  create_group(file.id(), "/invocations");
  write_texts(file.id(), kInvocationFolder, record.folders);
}

void write_record(const OutputFile& file, const RunRecord& record) {
  write_attributes(file.id(), record);
  write_folders(file, record);
  write_sources(file, record.sources);
  write_detector(file, record.detector, record.base.tick_ps);
}

RunRecord read_record(hid_t file, const std::string& name) {
  auto record = read_attributes(file);
  record.sources = read_source_columns(file, name);
  record.detector = read_detector(file, name);
  return record;
}

void write_sources(const OutputFile& file, const std::vector<SourceRecord>& sources) {
  create_group(file.id(), "/sources");
  write_text_fields(file, "/sources/name", sources, &SourceRecord::name);
  write_text_fields(file, "/sources/uri", sources, &SourceRecord::uri);
  write_text_fields(file, "/sources/path", sources, [](const SourceRecord& s) { return s.input.path; });
  write_text_fields(file, "/sources/description", sources, &SourceRecord::description);
  const bool any_payload =
      std::ranges::any_of(sources, [](const SourceRecord& source) { return !source.payload.empty(); });
  if (any_payload) write_text_fields(file, kSourcePayload, sources, &SourceRecord::payload);
  write_fields<std::uint64_t>(file, kSourceBytes, sources, [](const SourceRecord& s) { return s.input.bytes; });
  write_fields<std::uint32_t>(file, kSourceCrc, sources, [](const SourceRecord& s) { return s.input.crc32c; });
  write_fields<std::uint32_t>(file, kSourceId, sources, &SourceRecord::id);
}

}  // namespace eventloom
