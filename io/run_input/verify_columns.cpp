#include "io/run_input/verify_columns.hpp"

#include <spdlog/fmt/fmt.h>

#include <iterator>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/column_cursor.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/hdf5/seal.hpp"
#include "io/run_format/layout.hpp"
#include "io/run_input/account_check.hpp"
#include "io/run_input/ledger_reader.hpp"

namespace eventloom {

namespace {

/// Reads a whole column; returns its number of rows.
std::uint64_t read_through(hid_t file, const std::string& name, const ColumnSpec& spec) {
  ColumnCursor column(file, name, spec, kColumnBuffer);
  while (column.rows_left() > 0) column.skip(column.peek_bytes().size() / bytes_of(spec.type));
  return column.rows();
}

void expect_rows(const std::string& name, const ColumnSpec& spec, std::uint64_t rows, std::uint64_t expected) {
  if (rows == expected) return;
  throw UserError(fmt::format("'{}' is damaged: {} has {} rows, not {}", name, spec.path, rows, expected));
}

/// Reads all columns of a table; returns their number of rows.
template <class Columns>
std::uint64_t read_table(hid_t file, const std::string& name, const Columns& columns) {
  const auto rows = read_through(file, name, columns.front());
  for (auto spec = std::next(columns.begin()); spec != columns.end(); ++spec) {
    expect_rows(name, *spec, read_through(file, name, *spec), rows);
  }
  return rows;
}

std::vector<ColumnSpec> specs_of_ledger(hid_t file) {
  std::vector<ColumnSpec> specs;
  const auto there = ledger_columns_of(file);
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (there[i]) specs.push_back(ledger_columns()[i]);
  }
  return specs;
}

/// Reads offsets into another column, if the file has them; they have one row more than the table.
void read_offsets(hid_t file, const std::string& name, const ColumnSpec& spec, std::uint64_t rows) {
  if (has_object(file, spec.path)) expect_rows(name, spec, read_through(file, name, spec), rows + 1);
}

struct Rows {
  std::uint64_t events = 0;
  std::uint64_t hits = 0;
  std::uint64_t slices = 0;
};

Rows read_rows(const std::filesystem::path& path) {
  const H5Id file = open_for_reading(path);
  const auto name = path.string();
  check_seal(file.get());
  const Rows rows{read_table(file.get(), name, event_columns()), read_table(file.get(), name, hit_columns()),
                  read_table(file.get(), name, specs_of_ledger(file.get()))};
  expect_rows(name, first_hit_column(), read_through(file.get(), name, first_hit_column()), rows.events + 1);
  read_offsets(file.get(), name, first_payload_column(), rows.hits);
  read_offsets(file.get(), name, missing_offsets_column(), rows.slices);
  if (const auto& spec = event_time_offset_column(); has_object(file.get(), spec.path)) {
    expect_rows(name, spec, read_through(file.get(), name, spec), rows.hits);
  }
  for (const auto* spec : {&payload_column(), &missing_list_column()}) {
    if (has_object(file.get(), spec->path)) read_through(file.get(), name, *spec);
  }
  check_account(file.get(), name);
  return rows;
}

void add_ledger(hid_t file, const std::string& name, FinishedPart& part) {
  LedgerReader ledger(file, name, kColumnBuffer);
  SliceRuns slices;
  for (LedgerEntry entry; ledger.read(entry);) {
    slices.add({entry.row.slice});
    part.totals.add(entry.row, entry.missing_mask != 0);
  }
  part.slices = slices.runs();
}

/// Parts of earlier versions lack these counts.
void add_rejected(hid_t file, RunTotals& totals) {
  if (!has_attribute(file, kRejectedBy)) return;
  totals[Metric::events_rejected] = read_number(file, kEventsRejected);
  totals.add_rejected(read_numbers(file, kRejectedBy));
}

void add_events(hid_t file, const std::string& name, RunTotals& totals) {
  ColumnCursor flags(file, name, event_columns()[kEventFlags], kColumnBuffer);
  ColumnCursor missing(file, name, event_columns()[kEventMissing], kColumnBuffer);
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
    const H5Id open = open_for_reading(file);
    add_ledger(open.get(), file.string(), finished);
    add_rejected(open.get(), finished.totals);
    add_events(open.get(), file.string(), finished.totals);
  });
  return finished;
}

void verify_columns(const std::filesystem::path& file) {
  reading(file, [&] { return read_rows(file); });
}

std::optional<std::string> damage_of_columns(const std::filesystem::path& file, const PartInfo& part) {
  try {
    if (!is_part_file(file)) return "is no longer a part of a run";
    const auto rows = reading(file, [&] {
      check_part(open_for_reading(file).get(), file, part.datasets_sum);
      return read_rows(file);
    });
    if (rows.events == part.events && rows.hits == part.hits && rows.slices == part.slices) return std::nullopt;
    return fmt::format("has {} events, {} hits and {} slices, not {}, {} and {}", rows.events, rows.hits, rows.slices,
                       part.events, part.hits, part.slices);
  } catch (const UserError& error) {
    return error.what();
  }
}

}  // namespace eventloom
