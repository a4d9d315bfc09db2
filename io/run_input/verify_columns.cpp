#include "io/run_input/verify_columns.hpp"

#include <vector>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/hdf5/seal.hpp"
#include "io/run_format/histogram_table.hpp"
#include "io/run_format/layout.hpp"
#include "io/run_input/account_check.hpp"
#include "io/run_input/ledger_reader.hpp"

namespace eventloom {

namespace {

void read_through(const OpenOutput& open, const ColumnSpec& spec, std::uint64_t rows) {
  auto column = open.column_of(spec, rows);
  while (column.rows_left() > 0) column.skip(column.peek_bytes().size() / bytes_of(spec.type));
}

/// Reads all columns of one table; returns their number of rows.
std::uint64_t read_table(const OpenOutput& open, const std::vector<ColumnSpec>& columns) {
  const auto rows = open.rows(columns.front());
  for (const auto& spec : columns) read_through(open, spec, rows);
  return rows;
}

/// Reads a column that not all files have.
void read_if_any(const OpenOutput& open, const ColumnSpec& spec, std::optional<std::uint64_t> rows = {}) {
  if (open.has(spec)) read_through(open, spec, rows ? *rows : open.rows(spec));
}

struct Rows {
  std::uint64_t events = 0;
  std::uint64_t hits = 0;
  std::uint64_t slices = 0;
};

Rows read_rows(const OpenOutput& open) {
  const Rows rows{read_table(open, event_columns()), read_table(open, hit_columns()),
                  open.rows(ledger_columns()[kLedgerSlice])};
  for (const auto& spec : ledger_columns()) read_if_any(open, spec, rows.slices);
  read_through(open, first_hit_column(), rows.events + 1);
  read_if_any(open, first_payload_column(), rows.hits + 1);
  read_if_any(open, value_column(), rows.hits);
  read_if_any(open, missing_offsets_column(), rows.slices + 1);
  read_if_any(open, event_time_offset_column(), rows.hits);
  read_if_any(open, payload_column());
  read_if_any(open, missing_list_column());
  if (has_attribute(open.file.get(), kHistograms))
    (void)read_histograms(open.file.get(), open.name, read_texts(open.file.get(), kHistograms));
  check_account(open);
  return rows;
}

void add_ledger(const OpenOutput& open, FinishedPart& part) {
  LedgerReader ledger(open);
  SliceRuns slices;
  for (LedgerEntry entry; ledger.read(entry);) {
    slices.add({entry.row.slice});
    part.totals.add(entry.row, entry.missing_mask != 0);
  }
  part.slices = slices.runs();
}

/// Parts of earlier versions have no rejected events on record.
void add_rejected(hid_t file, RunTotals& totals) {
  if (!has_attribute(file, kRejectedBy)) return;
  totals[Metric::events_rejected] = read_number(file, kEventsRejected);
  totals.add_rejected(read_numbers(file, kRejectedBy));
}

void add_events(const OpenOutput& open, RunTotals& totals) {
  auto flags = open.column(event_columns()[kEventFlags]);
  auto missing = open.column(event_columns()[kEventMissing]);
  while (flags.rows_left() > 0) {
    const auto bits = flags.next<std::uint32_t>();
    totals.add_event(bits, missing.next<std::uint64_t>());
  }
}

}  // namespace

FinishedPart finished_part_of(const std::filesystem::path& file, const PartInfo& part) {
  FinishedPart finished{part, {}, {}};
  finished.totals[Metric::events] = part.events;
  finished.totals[Metric::hits_written] = part.hits;
  reading(file, [&] {
    const OpenOutput open(file);
    add_ledger(open, finished);
    add_rejected(open.file.get(), finished.totals);
    add_events(open, finished.totals);
  });
  return finished;
}

void verify_columns(const std::filesystem::path& file) {
  reading(file, [&] {
    const OpenOutput open(file);
    check_seal(open.file.get());
    read_rows(open);
  });
}

std::optional<std::string> damage_of_columns(const std::filesystem::path& file, const PartInfo& part) {
  try {
    if (!is_part_file(file)) return "is no longer a part of a run";
    const auto rows = reading(file, [&] { return read_rows(OpenOutput(file, part)); });
    if (rows.events == part.events && rows.hits == part.hits && rows.slices == part.slices) return std::nullopt;
    return fmt::format("has {} events, {} hits and {} slices, not {}, {} and {}", rows.events, rows.hits, rows.slices,
                       part.events, part.hits, part.slices);
  } catch (const UserError& error) {
    return error.what();
  }
}

}  // namespace eventloom
