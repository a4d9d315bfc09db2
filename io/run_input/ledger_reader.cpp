#include "io/run_input/ledger_reader.hpp"

#include <memory>

#include "core/runtime/error.hpp"
#include "io/run_format/layout.hpp"
#include "io/run_input/part_cursor.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kLedgerBuffer = 32 << 10;

/// Whether files of earlier versions may lack this column, because they do not know all causes of loss.
bool may_lack(std::size_t column) { return column >= kLedgerDropped + kFirstDropCauses; }

/// Reads the ledger of a part. Throws UserError unless it has as many slices as its run lists.
struct LedgerPart {
  LedgerPart(const std::filesystem::path& path, const PartInfo& part) : open(path), reader(open, kLedgerBuffer) {
    if (reader.rows() == part.slices) return;
    throw UserError("'" + open.name + "' has " + std::to_string(reader.rows()) + " slices, the run lists " +
                    std::to_string(part.slices));
  }

  [[nodiscard]] bool done() const { return reader.done(); }
  std::uint64_t key() { return reader.next_slice(); }

  OpenOutput open;
  LedgerReader reader;
};

}  // namespace

LedgerReader::LedgerReader(const OpenOutput& open, std::size_t buffer_bytes)
    : columns_(ledger_columns().size()), rows_(open.rows(ledger_columns()[kLedgerSlice])) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto& spec = ledger_columns()[i];
    if (!may_lack(i) || open.has(spec)) columns_[i].emplace(open.column_of(spec, rows_, buffer_bytes));
  }
  if (!open.has(missing_list_column())) return;
  offsets_.emplace(open.column_of(missing_offsets_column(), rows_ + 1, buffer_bytes));
  list_.emplace(open.column(missing_list_column(), buffer_bytes));
  offset_ = offsets_->next<std::uint64_t>();
}

std::uint64_t LedgerReader::next_slice() { return columns_[kLedgerSlice]->peek<std::uint64_t>().front(); }

bool LedgerReader::read(LedgerEntry& entry) {
  if (done()) return false;
  entry.row.slice = columns_[kLedgerSlice]->next<std::uint64_t>();
  entry.row.hits_in = columns_[kLedgerIn]->next<std::uint64_t>();
  entry.row.hits_in_events = columns_[kLedgerInEvents]->next<std::uint64_t>();
  entry.row.hits_outside = columns_[kLedgerOutside]->next<std::uint64_t>();
  entry.row.hits_rejected = columns_[kLedgerRejected]->next<std::uint64_t>();
  entry.missing_mask = columns_[kLedgerMissing]->next<std::uint64_t>();
  entry.row.builder = columns_[kLedgerBuilder]->next<std::uint32_t>();
  for (std::size_t i = 0; i < kDropCauses; ++i) {
    auto& column = columns_[kLedgerDropped + i];
    entry.row.hits_dropped[i] = column ? column->next<std::uint64_t>() : 0;
  }
  entry.sources_missing.clear();
  if (!list_) return true;
  const auto end = offsets_->next<std::uint64_t>();
  for (; offset_ < end && list_->rows_left() > 0; ++offset_)
    entry.sources_missing.push_back(list_->next<std::uint32_t>());
  return true;
}

void merge_ledgers(const std::filesystem::path& folder, std::span<const PartInfo> parts,
                   const std::function<void(const LedgerEntry&)>& take) {
  PartCursor<LedgerPart> cursor(
      parts, [&](const PartInfo& part, std::size_t) { return std::make_unique<LedgerPart>(folder / part.name, part); });
  LedgerEntry entry;
  std::optional<std::uint64_t> last;
  while (auto* part = cursor.next()) {
    part->reader.read(entry);
    if (last && entry.row.slice <= *last) {
      throw UserError("slice " + std::to_string(entry.row.slice) + " of '" + part->open.name + "' comes after slice " +
                      std::to_string(*last) + " of '" + entry.file + "': one of them is damaged, or of another run");
    }
    last = entry.row.slice;
    entry.file = part->open.name;
    take(entry);
  }
}

}  // namespace eventloom
