#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/run_format/layout.hpp"
#include "io/run_format/ledger_entry.hpp"
#include "io/run_format/part_info.hpp"
#include "io/run_input/open_output.hpp"

namespace eventloom {

/// Reads /ledger of an output file from front to back.
class LedgerReader {
 public:
  /// `open` must outlive it.
  explicit LedgerReader(const OpenOutput& open, std::size_t buffer_bytes = kColumnBuffer);
  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] bool done() const { return columns_[kLedgerSlice]->rows_left() == 0; }
  /// Slice of the next row, which must exist.
  std::uint64_t next_slice();
  /// Replaces the contents of `entry` with the next row; returns false at the end.
  bool read(LedgerEntry& entry);

 private:
  std::vector<std::optional<ColumnCursor>> columns_;  ///< indexed by LedgerColumn; std::nullopt: all zero
  std::optional<ColumnCursor> offsets_;
  std::optional<ColumnCursor> list_;
  std::uint64_t rows_;
  std::uint64_t offset_ = 0;
};

/// Delivers the ledger rows of all parts in the order of slices. Reads through small buffers, and keeps as many parts
/// open as there are chains. Throws UserError if a part is missing or does not have the slices listed for it.
void merge_ledgers(const std::filesystem::path& folder, std::span<const PartInfo> parts,
                   const std::function<void(const LedgerEntry&)>& take);

}  // namespace eventloom
