#include "io/run_output/merge.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/column_cursor.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/hdf5/output_file.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/hdf5/seal.hpp"
#include "io/run_format/detector_table.hpp"
#include "io/run_format/event_file_table.hpp"
#include "io/run_format/histogram_table.hpp"
#include "io/run_format/layout.hpp"
#include "io/run_format/record_table.hpp"
#include "io/run_format/run_statistics.hpp"
#include "io/run_format/total_attributes.hpp"
#include "io/run_input/account_check.hpp"
#include "io/run_input/ledger_reader.hpp"
#include "io/run_input/part_columns.hpp"
#include "io/run_input/part_cursor.hpp"
#include "io/run_input/run_histograms.hpp"
#include "io/run_input/run_to_merge.hpp"
#include "io/run_output/nexus.hpp"
#include "io/run_output/tables_writer.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kReadAhead = std::size_t{256} << 20;
constexpr std::size_t kMinBuffer = std::size_t{16} << 10;
constexpr std::size_t kMaxBuffer = std::size_t{1} << 20;

/// The buffer of each chain of parts is divided evenly among its columns.
std::size_t buffer_bytes(std::size_t chains) {
  constexpr std::size_t columns = std::size_t{kEventColumns} + kHitColumns + 2;
  return std::clamp(kReadAhead / (chains * columns), kMinBuffer, kMaxBuffer);
}

/// The tables that are written event by event.
struct MergedTables {
  MergedTables(const OutputFile& file, const ColumnSettings& settings, const RunRecord& record, bool with_nexus)
      : events(file, settings, record.with_payload, record.hits), account(record) {
    if (with_nexus) nexus.emplace(file, record, settings);
  }
  EventTables events;
  std::optional<NexusEntry> nexus;
  SliceHits account;
};

/// Copies `n` rows.
void copy_rows(ColumnCursor& from, ColumnWriter& to, std::uint64_t n, std::size_t width) {
  while (n > 0) {
    const auto bytes = from.peek_bytes();
    const auto rows = std::min<std::uint64_t>(n, bytes.size() / width);
    if (rows == 0) throw std::logic_error("rows asked for beyond the end of a column");
    to.append_bytes(bytes.first(rows * width));
    from.skip(rows);
    n -= rows;
  }
}

/// Copies `n` times of hits, each time up to the end of a chunk of any column, so that the order of chunks does not
/// depend on the number of buffered rows.
void copy_times(ColumnCursor& from, MergedTables& out, std::uint64_t n) {
  auto& to = out.events.hits[kHitTime];
  while (n > 0) {
    const auto times = from.peek<Tick>();
    auto rows = std::min({n, std::uint64_t{times.size()}, to.rows_to_chunk_end()});
    if (out.nexus) rows = std::min(rows, out.nexus->hits_to_chunk_end());
    if (rows == 0) throw std::logic_error("times asked for beyond the end of a column");
    to.append(times.first(rows));
    out.account.add_hits(times.first(rows));
    if (out.nexus) out.nexus->add_hits(times.first(rows));
    from.skip(rows);
    n -= rows;
  }
}

/// Copies `n` channels and sources for the NeXus entry, which needs both at once; otherwise like copy_times().
void copy_ids(PartColumns& from, MergedTables& out, std::uint64_t n) {
  auto& to = out.events.hits;
  while (n > 0) {
    const auto channels = from.hits[kHitChannel].peek<std::uint32_t>();
    const auto sources = from.hits[kHitSource].peek<std::uint16_t>();
    const auto rows =
        std::min({n, std::uint64_t{channels.size()}, std::uint64_t{sources.size()}, to[kHitChannel].rows_to_chunk_end(),
                  to[kHitSource].rows_to_chunk_end(), out.nexus->ids_to_chunk_end()});
    if (rows == 0) throw std::logic_error("ids asked for beyond the end of a column");
    to[kHitChannel].append(channels.first(rows));
    to[kHitSource].append(sources.first(rows));
    out.nexus->add_ids(channels.first(rows), sources.first(rows));
    from.hits[kHitChannel].skip(rows);
    from.hits[kHitSource].skip(rows);
    n -= rows;
  }
}

void copy_hits(PartColumns& from, MergedTables& to, std::uint64_t hits) {
  copy_times(from.hits[kHitTime], to, hits);
  if (to.nexus) return copy_ids(from, to, hits);
  for (std::size_t i = kHitTime + 1; i < from.hits.size(); ++i) {
    copy_rows(from.hits[i], to.events.hits[i], hits, bytes_of(hit_columns()[i].type));
  }
}

/// Returns how many events to copy until the last one fills a chunk of any column, at least one, so that the order of
/// chunks in the file does not depend on the distribution of the events over parts.
std::size_t events_to_chunk_end(PartColumns& from, std::span<const std::uint32_t> counts, const MergedTables& to) {
  const auto& out = to.events;
  std::uint64_t events = std::min<std::uint64_t>(counts.size(), out.first_hit.rows_to_chunk_end());
  for (const auto& column : out.events) events = std::min(events, column.rows_to_chunk_end());
  std::uint64_t room = std::numeric_limits<std::uint64_t>::max();
  for (const auto& column : out.hits) room = std::min(room, column.rows_to_chunk_end());
  if (out.value) room = std::min(room, out.value->rows_to_chunk_end());
  if (to.nexus) room = std::min({room, to.nexus->hits_to_chunk_end(), to.nexus->ids_to_chunk_end()});
  std::span<const std::uint64_t> offsets;
  std::uint64_t words_room = 0;
  if (from.payload) {
    offsets = from.first_payload->peek<std::uint64_t>();
    room = std::min({room, out.first_payload->rows_to_chunk_end(), std::uint64_t{offsets.size()}});
    words_room = out.payload->rows_to_chunk_end();
  }
  std::uint64_t hits = 0;
  for (std::size_t n = 0; n < events; ++n) {
    hits += counts[n];
    const bool fills = hits >= room || (from.payload && hits > 0 && offsets[hits - 1] - from.first_word >= words_room);
    if (fills) return n + 1;
  }
  return static_cast<std::size_t>(events);
}

void copy_payload(PartColumns& from, std::uint64_t hits, EventTables& out) {
  std::uint64_t words = 0;
  const std::uint64_t words_out = out.payload->rows();
  for (std::uint64_t left = hits; left > 0;) {
    const auto offsets = from.first_payload->peek<std::uint64_t>();
    const auto n = std::min<std::uint64_t>(left, offsets.size());
    out.first_payload->generate<std::uint64_t>(
        n, [&, i = offsets.begin()]() mutable { return words_out + (*i++ - from.first_word); });
    words = offsets[n - 1] - from.first_word;
    from.first_payload->skip(n);
    left -= n;
  }
  from.first_word += words;
  from.expect(words <= from.payload->rows_left(), "hits with more payload than there is");
  copy_rows(*from.payload, *out.payload, words, bytes_of(payload_column().type));
}

/// Copies the buffered events before `limit`, at least one.
void copy_before(PartColumns& from, Tick limit, MergedTables& to) {
  auto& out = to.events;
  const auto times = from.events[kEventTime].peek<Tick>();
  const auto before = static_cast<std::size_t>(std::ranges::lower_bound(times, limit) - times.begin());
  auto counts = from.events[kEventHits].peek<std::uint32_t>();
  counts = counts.first(std::min(std::max<std::size_t>(before, 1), counts.size()));
  counts = counts.first(events_to_chunk_end(from, counts, to));
  const auto n = counts.size();
  const auto hits = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  from.expect(hits <= from.hits[kHitTime].rows_left(), "events with more hits than there are");
  std::uint64_t first_hit = out.hits[kHitTime].rows();
  out.first_hit.generate<std::uint64_t>(n, [&, i = counts.begin()]() mutable { return first_hit += *i++; });
  if (to.nexus) to.nexus->add_events(times.first(n), counts);
  to.account.pass(times.front());
  for (std::size_t i = 0; i < from.events.size(); ++i) {
    copy_rows(from.events[i], out.events[i], n, bytes_of(event_columns()[i].type));
  }
  copy_hits(from, to, hits);
  if (out.value) copy_rows(*from.value, *out.value, hits, bytes_of(value_column().type));
  if (from.payload) copy_payload(from, hits, out);
}

void take_turn(const MergeSettings& merge) {
  if (merge.turn) merge.turn();
}

/// Checks whatever can fail before the long copy.
void expect_parts(const std::filesystem::path& folder, const RunFile& run, const MergeSettings& merge) {
  for (const auto& part : run.parts) {
    take_turn(merge);
    const auto path = folder / part.name;
    reading(path, [&] {
      const PartColumns columns(OpenOutput(path, part), part.events, part.hits, run.record.with_payload, kMinBuffer);
      columns.expect(columns.value || !run.record.hits.with_values, "it has no /hits/value");
    });
  }
}

void merge_events(const std::filesystem::path& folder, const RunFile& run, const MergeSettings& merge,
                  MergedTables& out) {
  PartCursor<PartColumns> cursor(run.parts, [&](const PartInfo& part, std::size_t chains) {
    return std::make_unique<PartColumns>(OpenOutput(folder / part.name), part.events, part.hits,
                                         run.record.with_payload, buffer_bytes(chains));
  });
  while (auto* part = cursor.next()) {
    copy_before(*part, cursor.limit(), out);
    take_turn(merge);
  }
}

/// Writes what depends on how the run was done, not on its input and definition alone.
void copy_invocations(const std::filesystem::path& run_file, const RunFile& run, const OutputFile& to) {
  write_folders(to, run.record);
  write_statistics(to, read_statistics(run_file));
  PartInfo all;
  for (const auto& part : run.parts) {
    all.event_files.insert(all.event_files.end(), part.event_files.begin(), part.event_files.end());
  }
  write_event_files(to, {&all, 1});
}

/// Writes the objects instead of copying them: HDF5's copy depends on their layout in run.h5.
void copy_about_run(const std::filesystem::path& run_file, const RunFile& run, const std::string& missing,
                    bool with_invocations, const OutputFile& to) {
  const auto out = to.id();
  const H5Id file = open_for_reading(run_file);
  for (const auto& name : attribute_names(file.get())) {
    const bool of_invocations = std::ranges::find(kInvocationAttributes, name) != kInvocationAttributes.end();
    const bool is_wanted = with_invocations || !of_invocations;
    if (name != "format" && !is_seal(name) && is_wanted && !is_total(name))
      copy_attribute(file.get(), out, name.c_str());
  }
  write_attribute(out, "format", kMergedFormat);
  if (!missing.empty()) write_attribute(out, "missing", missing);
  write_totals(out, run.record.totals);
  write_sources(to, run.record.sources);
  write_detector(to, run.record.detector, run.record.base.tick_ps);
  if (with_invocations) copy_invocations(run_file, run, to);
}

/// Copies the ledger and compares it with the copied hits and the totals of the run.
void merge_ledger(const std::filesystem::path& folder, const RunFile& run, LedgerTable& out, SliceHits& account,
                  const std::string& place) {
  const auto sums = merge_checked_ledgers(folder, run.parts, run.record.totals, [&](const LedgerEntry& entry) {
    account.add_row(entry.row);
    out.append(entry.row, entry.sources_missing, entry.missing_mask);
  });
  out.finish();
  expect_totals(run.record.totals, sums, place);
  account.check(place);
}

MergeResult write_tables(const std::filesystem::path& run_file, const RunFile& run, const OutputFile& file,
                         const MergeSettings& merge) {
  const auto folder = run_file.parent_path();
  const ColumnSettings settings{.compress = merge.compress.value_or(compress_of(run.record)),
                                .tick_ps = run.record.base.tick_ps,
                                .numbered = run.record.numbered};
  MergedTables tables(file, settings, run.record, merge.nexus);
  merge_events(folder, run, merge, tables);
  auto& events = tables.events;
  MergeResult result{events.events[kEventTime].rows(), events.hits[kHitTime].rows(), 0, {}};
  events.finish();
  if (tables.nexus) tables.nexus->finish(result.events);

  LedgerTable ledger(file, settings, run.record.sources.size() > kMaskedSources);
  write_histograms(file, sum_histograms(folder, run.parts, run.record.histograms));
  merge_ledger(folder, run, ledger, tables.account, "'" + run_file.string() + "'");
  return result;
}

}  // namespace

MergedFile::MergedFile(std::unique_ptr<OutputFile> file, MergeResult result)
    : file_(std::move(file)), result_(std::move(result)) {}
MergedFile::MergedFile(MergedFile&&) noexcept = default;
MergedFile::~MergedFile() = default;

void MergedFile::publish() { file_->publish(); }

MergedFile write_merged_file(const std::filesystem::path& run_file, const std::filesystem::path& output,
                             const MergeSettings& settings) {
  const auto opened = open_run_to_merge(run_file, settings.partial);
  const auto& run = opened.run;
  if (settings.nexus && run.record.numbered) {
    throw UserError("--nexus: the times of '" + run_file.string() +
                    "' are event numbers, which NXevent_data cannot hold");
  }
  const auto folder = run_file.parent_path();
  expect_parts(folder, run, settings);

  auto file = std::make_unique<OutputFile>(output);
  MergeResult result;
  file->fill([&] {
    reading(run_file, [&] {
      copy_about_run(run_file, run, opened.missing, settings.with_invocations, *file);
      result = write_tables(run_file, run, *file, settings);
      seal_file(file->id());
    });
  });
  result.missing = opened.missing;
  result.bytes = file->close();
  return {std::move(file), std::move(result)};
}

MergeResult merge_run(const std::filesystem::path& run_file, const std::filesystem::path& output,
                      const MergeSettings& settings) {
  auto merged = write_merged_file(run_file, output, settings);
  merged.publish();
  return merged.result();
}

}  // namespace eventloom
