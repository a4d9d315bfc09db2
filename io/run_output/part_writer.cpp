#include "io/run_output/part_writer.hpp"

#include <functional>
#include <stdexcept>
#include <utility>

#include "core/dataflow/event_histograms.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "io/files/partial_file.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/output_file.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/hdf5/seal.hpp"
#include "io/run_format/histogram_record.hpp"
#include "io/run_format/histogram_table.hpp"
#include "io/run_format/layout.hpp"
#include "io/run_format/record_table.hpp"
#include "io/run_output/disk_reserve.hpp"
#include "io/run_output/tables_writer.hpp"

namespace eventloom {

namespace {

ColumnSettings column_settings(const PartWriterSettings& settings) {
  return {settings.chunk_bytes, settings.compress, settings.base.tick_ps, settings.numbered};
}

void write_part_attributes(hid_t file, const PartWriterSettings& settings, const PartInfo& part) {
  write_attribute(file, "format", kPartFormat);
  write_attribute(file, "format_version", kOutputVersion);
  write_attribute(file, "run_file", settings.run_file.filename().string());
  if (settings.run_number) write_attribute(file, kRunNumber, *settings.run_number);
  write_attribute(file, "writer", std::uint64_t{part.writer});
  write_attribute(file, "segment", std::uint64_t{part.segment});
  write_attribute(file, "tick_ps", settings.base.tick_ps);
  write_attribute(file, "epoch_ticks", std::uint64_t{settings.base.epoch_ticks});
  if (!settings.histograms) return;
  std::vector<std::string> texts;
  for (const auto& spec : settings.histograms->specs()) texts.push_back(spec.text);
  write_attribute(file, kHistograms, texts);
}

/// Counts of this part: its slices do not contain the number of events before the filter.
void write_rejected(hid_t file, const RunTotals& totals) {
  write_attribute(file, kEventsRejected, totals[Metric::events_rejected]);
  write_attribute(file, kRejectedBy, totals.rejected_by);
}

/// Approximate number of bytes that a slice adds to the datasets.
std::uint64_t bytes_of(const BuiltSlice& slice, bool with_payload) {
  const auto payload = slice.hits.payload_words.size() * 8 + slice.hits.payload.size() * 4;
  return slice.events.size() * 48 + slice.hits.size() * 14 + (with_payload ? payload : 0) + 96;
}

void append_events(EventTables& tables, const BuiltSlice& slice) {
  const auto& events = slice.events;
  const auto n = events.size();
  tables.events[kEventTime].append(std::span(events.time));
  tables.events[kEventDuration].append(std::span(events.duration));
  tables.events[kEventHits].append(std::span(events.n_hits));
  tables.events[kEventSlice].append_repeated(slice.ledger.slice, n);
  tables.events[kEventFlags].append(std::span(events.flags));
  tables.events[kEventMissing].append(std::span(events.sources_missing));

  std::uint64_t hits = tables.hits[kHitTime].rows();
  const std::uint64_t hits_after = hits + slice.hits.size();
  tables.first_hit.generate<std::uint64_t>(n, [&, i = events.n_hits.begin()]() mutable { return hits += *i++; });
  if (hits != hits_after) throw std::logic_error("a slice whose events do not have as many hits as it holds");
}

void append_hits(EventTables& tables, const HitColumns& hits) {
  tables.hits[kHitTime].append(std::span(hits.time));
  tables.hits[kHitChannel].append(std::span(hits.channel));
  tables.hits[kHitSource].append(std::span(hits.source));
}

void append_payload(EventTables& tables, const HitColumns& hits) {
  if (!tables.payload) return;
  if (hits.payload_words.size() != hits.size())
    throw std::logic_error("a slice that does not assign its payload to hits");
  std::uint64_t words = tables.payload->rows();
  tables.first_payload->generate<std::uint64_t>(
      hits.size(), [&, i = hits.payload_words.begin()]() mutable { return words += *i++; });
  tables.payload->append(std::span(hits.payload));
}

void append_values(EventTables& tables, const HitColumns& hits, const ValueTable& values) {
  std::span<const std::uint32_t> payload = hits.payload;
  tables.value->generate<double>(hits.size(), [&, i = std::size_t{0}]() mutable {
    const std::size_t words = hits.payload_words.empty() ? 0 : hits.payload_words[i];
    const auto of_hit = payload.first(words);
    payload = payload.subspan(words);
    const double value = values(hits.source[i], hits.channel[i], of_hit);
    ++i;
    return value;
  });
}

/// Runs a step that needs little space on the disk of the run file, which may be full.
void with_space(const PartWriterSettings& settings, const std::function<void()>& step) {
  if (settings.next.empty()) return step();
  use_disk_reserve(settings.run_file, step);
}

OutputFolders folders_of(const PartWriterSettings& settings, bool full) {
  return {settings.scratch, settings.next, full, [&settings](const auto& step) { with_space(settings, step); }};
}

}  // namespace

/// The part being written.
struct PartWriter::Segment {
  Segment(const PartWriterSettings& settings, PartInfo about, bool moved)
      : info(std::move(about)),
        file(std::make_unique<OutputFile>(settings.run_file.parent_path() / info.name, folders_of(settings, moved))),
        events(std::in_place, *file, column_settings(settings), settings.with_payload, settings.hits),
        ledger(std::in_place, *file, column_settings(settings), settings.n_sources > kMaskedSources) {
    file->fill([&] { write_part_attributes(file->id(), settings, info); });
    if (!settings.histograms) return;
    histograms.emplace(settings.histograms);
    cells.resize(settings.histograms->cells());
  }

  PartInfo info;
  std::unique_ptr<OutputFile> file;
  std::optional<EventTables> events;
  std::optional<LedgerTable> ledger;
  std::optional<EventHistograms> histograms;
  std::vector<std::uint64_t> cells;  ///< counts of the histograms
  SliceRuns slices;
  RunTotals totals;
  std::uint64_t data_bytes = 0;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
};

PartWriter::PartWriter(PartWriterSettings settings)
    : settings_(std::move(settings)), companions_(settings_.companions), next_segment_(settings_.first_segment) {
  if (settings_.list) {
    const auto name = part_list_name(settings_.run_file, settings_.writer);
    list_.emplace(settings_.run_file.parent_path() / name, settings_.list->good_bytes, settings_.list->chain);
  }
  open_segment();
}

// The thread that waits for the disk uses the list.
PartWriter::~PartWriter() {
  if (publishing_.valid()) publishing_.wait();
}

void PartWriter::open_segment() {
  moved_ = moved_ || (!settings_.next.empty() && is_marked_full(settings_.run_file));
  PartInfo info;
  info.writer = settings_.writer;
  info.segment = next_segment_++;
  info.name = part_name(settings_.run_file, info.writer, info.segment);
  segment_ = std::make_unique<Segment>(settings_, std::move(info), moved_);
  note_move(*segment_->file);
  companions_.begin();
}

void PartWriter::note_move(const OutputFile& file) {
  if (!file.is_moved() || moved_) return;
  moved_ = true;
  mark_disk_full(settings_.run_file);
  log::warn("the disk of '{}' is full: part files continue in '{}', and links beside the run file lead to them",
            settings_.run_file.string(), settings_.next.string());
}

void PartWriter::write(const BuiltSlice& slice) {
  if (failed_) throw std::logic_error("a part writer used after it failed");
  failed_ = true;  // cleared on success
  if (!segment_) open_segment();
  if (!companions_.write(slice)) {
    end_segment();
    open_segment();
    companions_.write(slice);
  }
  append(slice);
  const auto age = std::chrono::steady_clock::now() - segment_->begun;
  if (segment_->data_bytes >= settings_.segment_bytes || age >= settings_.segment_time) end_segment();
  failed_ = false;
}

void PartWriter::append(const BuiltSlice& slice) {
  auto& info = segment_->info;
  if (info.slices > 0 && slice.ledger.slice <= info.last_slice) throw std::logic_error("slices that do not rise");

  segment_->file->fill([&] {
    append_events(*segment_->events, slice);
    append_hits(*segment_->events, slice.hits);
    append_payload(*segment_->events, slice.hits);
    if (segment_->events->value) append_values(*segment_->events, slice.hits, *settings_.values);
    segment_->ledger->append(slice.ledger, slice.sources_missing, mask_of(slice.sources_missing));
  });
  note_move(*segment_->file);

  if (segment_->histograms) segment_->histograms->add(slice, segment_->cells);
  if (info.slices++ == 0) info.first_slice = slice.ledger.slice;
  info.last_slice = slice.ledger.slice;
  info.events += slice.events.size();
  info.hits += slice.hits.size();
  segment_->slices.add({slice.ledger.slice});
  segment_->totals.add(slice);
  segment_->data_bytes += bytes_of(slice, settings_.with_payload);
}

void PartWriter::end_part() {
  if (failed_) throw std::logic_error("a part writer used after it failed");
  if (!segment_ || segment_->info.slices == 0) return;
  failed_ = true;
  end_segment();
  failed_ = false;
}

void PartWriter::end_segment() {
  auto beside = companions_.end();
  segment_->info.event_files = beside.infos();
  segment_->file->fill([&] {
    write_rejected(segment_->file->id(), segment_->totals);
    segment_->events->finish();
    segment_->ledger->finish();
    if (settings_.histograms)
      write_histograms(*segment_->file,
                       histogram_records(*settings_.histograms, segment_->cells, settings_.hits.value_unit));
    segment_->info.datasets_sum = seal_file(segment_->file->id());
  });
  segment_->events.reset();
  segment_->ledger.reset();
  segment_->info.bytes = segment_->file->close();
  note_move(*segment_->file);
  wait_for_disk();
  FinishedPart part{segment_->info, segment_->slices.runs(), segment_->totals};
  published_ = std::move(segment_->file);
  publishing_ = std::async(std::launch::async, [beside = std::move(beside), part = std::move(part), this]() mutable {
    published_->publish([&] {
      beside.sync();
      if (list_) with_space(settings_, [&] { list_->append(part); });
      beside.keep();
    });
    beside.publish();
    return part;
  });
  if (settings_.sums_histograms) sum_cells();
  segment_.reset();
}

void PartWriter::sum_cells() {
  if (ended_cells_.empty()) {
    ended_cells_ = std::move(segment_->cells);
    return;
  }
  for (std::size_t i = 0; i < ended_cells_.size(); ++i) ended_cells_[i] += segment_->cells[i];
}

void PartWriter::add_cells(std::size_t histogram, std::size_t begin, std::span<std::uint64_t> cells) const {
  const auto add = [&](std::span<const std::uint64_t> counts) {
    const auto from = settings_.histograms->cells_of(histogram, counts).subspan(begin, cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i] += from[i];
  };
  if (!ended_cells_.empty()) add(ended_cells_);
  if (segment_) add(segment_->cells);
}

void PartWriter::wait_for_disk() {
  if (!publishing_.valid()) return;
  publishing_.wait();
  const auto file = std::move(published_);
  finished_.push_back(publishing_.get());
  note_move(*file);
}

const std::vector<FinishedPart>& PartWriter::finished() {
  try {
    wait_for_disk();
  } catch (const UserError&) {
    // Another error has been reported; this part is not finished either.
  }
  return finished_;
}

std::vector<PartInfo> PartWriter::close() {
  if (failed_) throw std::logic_error("a part writer closed after it failed");
  failed_ = true;
  const bool empty = segment_ && segment_->info.slices == 0;
  if (segment_ && !(empty && settings_.first_segment > 0)) end_segment();
  segment_.reset();
  companions_.abandon();
  wait_for_disk();
  failed_ = false;
  std::vector<PartInfo> parts;
  for (const auto& part : finished_) parts.push_back(part.info);
  return parts;
}

}  // namespace eventloom
