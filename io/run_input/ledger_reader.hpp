#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/column_cursor.hpp"
#include "io/run_format/ledger_entry.hpp"
#include "io/run_format/part_info.hpp"

namespace eventloom {

/// Flags the columns of /ledger that the file has. Files of earlier versions lack the causes of loss added since;
/// reading fails when any other column is missing.
std::vector<bool> ledger_columns_of(hid_t file);

/// Reads /ledger of an output file from front to back.
class LedgerReader {
 public:
  /// `file` must stay open; `file_name` is for messages.
  LedgerReader(hid_t file, const std::string& file_name, std::size_t buffer_bytes);
  [[nodiscard]] std::uint64_t rows() const { return columns_.front()->rows(); }
  /// Reads the next row into `entry`, replacing its contents; returns false at the end.
  bool read(LedgerEntry& entry);

 private:
  std::vector<std::optional<ColumnCursor>> columns_;  ///< indexed by LedgerColumn; a missing column reads as zero
  std::optional<ColumnCursor> offsets_;
  std::optional<ColumnCursor> list_;
  std::uint64_t offset_ = 0;
};

/// Splits the parts into as few chains with ascending slices as possible: as many as there are overlapping parts. Omits
/// parts without slices.
std::vector<std::vector<PartInfo>> chains_of(std::span<const PartInfo> parts);

/// Passes the ledger rows of all parts to `take`, in slice order. Uses small buffers, and keeps as many parts open as
/// there are chains. Throws UserError when a part is missing or lacks slices listed for it.
void merge_ledgers(const std::filesystem::path& folder, std::span<const PartInfo> parts,
                   const std::function<void(const LedgerEntry&)>& take);

}  // namespace eventloom
