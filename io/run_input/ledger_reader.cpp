#include "io/run_input/ledger_reader.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "core/runtime/error.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/hdf5/objects.hpp"
#include "io/run_format/layout.hpp"
#include "io/run_input/chain_order.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kLedgerBuffer = 32 << 10;

/// Reads the ledger rows of a chain of parts.
class ChainedLedger {
 public:
  ChainedLedger(std::filesystem::path folder, std::vector<PartInfo> parts)
      : folder_(std::move(folder)), parts_(std::move(parts)) {}

  bool read() {
    while (!reader_ || !reader_->read(entry)) {
      if (at_ == parts_.size()) return false;
      open(parts_[at_++]);
    }
    return true;
  }

  LedgerEntry entry;

 private:
  void open(const PartInfo& part) {
    const auto path = folder_ / part.name;
    reader_.reset();
    file_ = open_for_reading(path);
    reader_.emplace(file_.get(), path.string(), kLedgerBuffer);
    entry.file = path.string();
    if (reader_->rows() == part.slices) return;
    throw UserError("'" + path.string() + "' has " + std::to_string(reader_->rows()) + " slices, the run lists " +
                    std::to_string(part.slices));
  }

  std::filesystem::path folder_;
  std::vector<PartInfo> parts_;
  std::size_t at_ = 0;
  H5Id file_;
  std::optional<LedgerReader> reader_;
};

}  // namespace

std::vector<bool> ledger_columns_of(hid_t file) {
  std::vector<bool> there(ledger_columns().size(), true);
  for (std::size_t i = kLedgerDropped + kFirstDropCauses; i < there.size(); ++i) {
    there[i] = has_object(file, ledger_columns()[i].path);
  }
  return there;
}

LedgerReader::LedgerReader(hid_t file, const std::string& file_name, std::size_t buffer_bytes) {
  const auto there = ledger_columns_of(file);
  columns_.resize(there.size());
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (there[i]) columns_[i].emplace(file, file_name, ledger_columns()[i], buffer_bytes);
  }
  for (const auto& column : columns_) {
    if (column && column->rows() != rows())
      throw UserError("'" + file_name + "' is damaged: columns of /ledger differ in length");
  }
  if (!has_object(file, missing_list_column().path)) return;
  offsets_.emplace(file, file_name, missing_offsets_column(), buffer_bytes);
  list_.emplace(file, file_name, missing_list_column(), buffer_bytes);
  if (offsets_->rows() != rows() + 1) {
    throw UserError("'" + file_name + "' is damaged: " + missing_offsets_column().path + " has the wrong length");
  }
  offset_ = offsets_->next<std::uint64_t>();
}

bool LedgerReader::read(LedgerEntry& entry) {
  if (columns_[kLedgerSlice]->rows_left() == 0) return false;
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

std::vector<std::vector<PartInfo>> chains_of(std::span<const PartInfo> parts) {
  std::vector<PartInfo> sorted;
  std::ranges::copy_if(parts, std::back_inserter(sorted), [](const PartInfo& part) { return part.slices > 0; });
  std::ranges::sort(sorted, {}, &PartInfo::first_slice);

  std::vector<std::vector<PartInfo>> chains;
  using End = std::pair<std::uint64_t, std::size_t>;  // last slice of a chain, chain index
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  for (auto& part : sorted) {
    std::size_t chain = chains.size();
    if (!ends.empty() && ends.top().first < part.first_slice) {
      chain = ends.top().second;
      ends.pop();
    } else {
      chains.emplace_back();
    }
    ends.emplace(part.last_slice, chain);
    chains[chain].push_back(std::move(part));
  }
  return chains;
}

void merge_ledgers(const std::filesystem::path& folder, std::span<const PartInfo> parts,
                   const std::function<void(const LedgerEntry&)>& take) {
  std::vector<ChainedLedger> chains;
  for (auto& chain : chains_of(parts)) chains.emplace_back(folder, std::move(chain));

  const auto next = [&](std::size_t chain) {
    return chains[chain].read() ? std::optional(chains[chain].entry.row.slice) : std::nullopt;
  };
  std::optional<std::uint64_t> last;
  std::string last_file;
  take_in_order(chains.size(), next, [&](std::size_t chain, std::uint64_t) {
    const auto& entry = chains[chain].entry;
    if (last && entry.row.slice <= *last) {
      throw UserError("slice " + std::to_string(entry.row.slice) + " of '" + entry.file + "' comes after slice " +
                      std::to_string(*last) + " of '" + last_file + "': one of them is damaged, or of another run");
    }
    last = entry.row.slice;
    last_file = entry.file;
    take(entry);
    return true;
  });
}

}  // namespace eventloom
