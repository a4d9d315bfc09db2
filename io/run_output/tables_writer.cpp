#include "io/run_output/tables_writer.hpp"

#include <algorithm>

#include "io/hdf5/objects.hpp"
#include "io/run_format/hit_notes_table.hpp"
#include "io/run_format/layout.hpp"

namespace eventloom {

namespace {

std::vector<ColumnWriter> make_columns(const OutputFile& file, const std::vector<ColumnSpec>& specs,
                                       const ColumnSettings& settings) {
  std::vector<ColumnWriter> columns;
  columns.reserve(specs.size());
  for (const auto& spec : specs) columns.emplace_back(file, spec, settings);
  return columns;
}

/// Always deflates: most columns are constant, and short slices make many rows. Uses small chunks: when a run is
/// merged, one chunk per column and writer is in memory.
ColumnSettings of_ledger(ColumnSettings settings) {
  constexpr std::size_t kChunkBytes = std::size_t{256} << 10;
  settings.chunk_bytes = std::min(settings.chunk_bytes, kChunkBytes);
  settings.compress = std::max(settings.compress, 1U);
  return settings;
}

template <class T>
void append_one(ColumnWriter& column, T value) {
  column.append_repeated(value, 1);
}

}  // namespace

EventTables::EventTables(const OutputFile& file, const ColumnSettings& settings, bool with_payload,
                         const HitNotes& notes)
    : events(make_columns(file, event_columns(), settings)),
      first_hit(file, first_hit_column(), settings),
      hits(make_columns(file, hit_columns(), settings)),
      value_spec(value_column()) {
  create_group(file.id(), "/events");
  create_group(file.id(), "/hits");
  value_spec.units = notes.value_unit;
  if (notes.with_values) value.emplace(file, value_spec, settings);
  append_one(first_hit, std::uint64_t{0});
  if (!with_payload) return;
  write_payload_notes(H5Id(open_object(file.id(), "/hits")).get(), notes);
  first_payload.emplace(file, first_payload_column(), settings);
  payload.emplace(file, payload_column(), settings);
  append_one(*first_payload, std::uint64_t{0});
}

void EventTables::finish() {
  for (auto& column : events) column.finish();
  first_hit.finish();
  for (auto& column : hits) column.finish();
  if (first_payload) first_payload->finish();
  if (payload) payload->finish();
  if (value) value->finish();
}

std::uint64_t mask_of(std::span<const std::uint32_t> sources) {
  std::uint64_t mask = 0;
  for (const auto source : sources) mask |= source_bit({static_cast<std::uint16_t>(source)});
  return mask;
}

LedgerTable::LedgerTable(const OutputFile& file, const ColumnSettings& settings, bool with_list)
    : columns_(make_columns(file, ledger_columns(), of_ledger(settings))) {
  create_group(file.id(), "/ledger");
  if (!with_list) return;
  offsets_.emplace(file, missing_offsets_column(), of_ledger(settings));
  list_.emplace(file, missing_list_column(), of_ledger(settings));
  append_one(*offsets_, std::uint64_t{0});
}

void LedgerTable::append(const LedgerRow& row, std::span<const std::uint32_t> sources_missing,
                         std::uint64_t missing_mask) {
  append_one(columns_[kLedgerSlice], row.slice);
  append_one(columns_[kLedgerIn], row.hits_in);
  append_one(columns_[kLedgerInEvents], row.hits_in_events);
  append_one(columns_[kLedgerOutside], row.hits_outside);
  append_one(columns_[kLedgerRejected], row.hits_rejected);
  append_one(columns_[kLedgerMissing], missing_mask);
  append_one(columns_[kLedgerBuilder], row.builder);
  for (std::size_t i = 0; i < kDropCauses; ++i) append_one(columns_[kLedgerDropped + i], row.hits_dropped[i]);
  if (!list_) return;
  list_->append(sources_missing);
  append_one(*offsets_, list_->rows());
}

void LedgerTable::finish() {
  for (auto& column : columns_) column.finish();
  if (offsets_) offsets_->finish();
  if (list_) list_->finish();
}

}  // namespace eventloom
