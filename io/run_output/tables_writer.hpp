#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/event.hpp"
#include "io/hdf5/column_writer.hpp"
#include "io/run_format/hit_notes.hpp"
#include "io/run_format/ledger_entry.hpp"

namespace eventloom {

/// Writes /events, /hits and /payload of an output file. The constructor writes the first offset, 0, of each offset
/// column.
struct EventTables {
  /// `file` must outlive the tables.
  EventTables(const OutputFile& file, const ColumnSettings& settings, bool with_payload, const HitNotes& notes);
  EventTables(const EventTables&) = delete;  // a column refers to its description
  EventTables& operator=(const EventTables&) = delete;
  /// Call once, after the last event.
  void finish();

  std::vector<ColumnWriter> events;  ///< indexed by EventColumn
  ColumnWriter first_hit;
  std::vector<ColumnWriter> hits;  ///< indexed by HitColumn
  std::optional<ColumnWriter> first_payload;
  std::optional<ColumnWriter> payload;
  ColumnSpec value_spec;  ///< states the unit
  std::optional<ColumnWriter> value;
};

/// Mask with the bits of `sources`.
std::uint64_t mask_of(std::span<const std::uint32_t> sources);

/// Writes /ledger of an output file.
class LedgerTable {
 public:
  /// `with_list`: also write the numbers of missing sources, for runs with more sources than mask bits.
  LedgerTable(const OutputFile& file, const ColumnSettings& settings, bool with_list);
  void append(const LedgerRow& row, std::span<const std::uint32_t> sources_missing, std::uint64_t missing_mask);
  void finish();
  [[nodiscard]] std::uint64_t rows() const { return columns_.front().rows(); }

 private:
  std::vector<ColumnWriter> columns_;  ///< indexed by LedgerColumn
  std::optional<ColumnWriter> offsets_;
  std::optional<ColumnWriter> list_;
};

}  // namespace eventloom
