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

/// Columns of /ledger that the file has. Those of causes of loss that earlier versions did not know are missing from
/// their files; a file that lacks any other column fails when that is read.
std::vector<bool> ledger_columns_of(hid_t file);

/// Reads /ledger of an output file from front to back.
class LedgerReader {
 public:
  /// `file` must stay open; `file_name` is for messages.
  LedgerReader(hid_t file, const std::string& file_name, std::size_t buffer_bytes);
  [[nodiscard]] std::uint64_t rows() const { return columns_.front()->rows(); }
  /// False at the end. Replaces the contents of `entry`.
  bool read(LedgerEntry& entry);

 private:
  std::vector<std::optional<ColumnCursor>> columns_;  ///< by LedgerColumn; nothing: all zero
  std::optional<ColumnCursor> offsets_;
  std::optional<ColumnCursor> list_;
  std::uint64_t offset_ = 0;
};

/// Splits the parts into as few chains with rising slices as possible: as many as there are overlapping parts. Parts
/// without slices are omitted.
std::vector<std::vector<PartInfo>> chains_of(std::span<const PartInfo> parts);

/// Delivers the ledger rows of all parts in the order of slices. Reads through small buffers, and holds as many parts
/// open as there are chains. Throws UserError when a part is missing or does not have the slices listed for it.
void merge_ledgers(const std::filesystem::path& folder, std::span<const PartInfo> parts,
                   const std::function<void(const LedgerEntry&)>& take);

}  // namespace eventloom
