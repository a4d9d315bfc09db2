#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "core/dataflow/run_totals.hpp"
#include "io/run_format/ledger_entry.hpp"
#include "io/run_format/part_info.hpp"
#include "io/run_format/run_record.hpp"
#include "io/run_input/open_output.hpp"

/// Checks that the ledger, events, hits and totals of a run agree. Files of earlier versions have no checksums that
/// would show a difference.
namespace eventloom {

/// Reads /ledger, /events and /hits of a part or a merged file. Throws a UserError that names dataset and row if they
/// contradict each other.
void check_account(const OpenOutput& open);

/// Throws UserError if a row of the ledger does not balance. `place`: name of the file for the message.
void expect_balance(const LedgerEntry& entry, const std::string& place);

/// Throws UserError if sums over a ledger differ from those that the run states.
void expect_totals(const RunTotals& stated, const RunTotals& found, const std::string& place);

/// Delivers the ledger rows of all parts like merge_ledgers(), for a run with these totals, and checks the account:
/// each row must balance, unless the run itself reports slices that do not. Returns the sums of the rows, for
/// expect_totals().
RunTotals merge_checked_ledgers(const std::filesystem::path& folder, std::span<const PartInfo> parts,
                                const RunTotals& totals, const std::function<void(const LedgerEntry&)>& take);

/// Compares the hits of events, in the order of events, with the ledger, in the order of slices, slice by slice and in
/// constant memory.
class SliceHits {
 public:
  explicit SliceHits(const RunRecord& record);

  /// Adds the hits of the next events.
  void add_hits(std::span<const Tick> times);
  /// States that no hit added later, or since the previous events, is before `time`.
  void pass(Tick time);
  void add_row(const LedgerRow& row);
  /// Call after all hits and rows. Throws UserError.
  void check(const std::string& place);

 private:
  void end_stretch();
  void close_before(std::uint64_t slice);

  bool compares_;  ///< false for runs that lost data: slices may count hits of events that others cut
  Tick slice_ticks_;
  Tick begin_ = 0;             ///< begin of the slice of the last hit
  std::uint64_t stretch_ = 0;  ///< consecutive hits in that slice
  std::map<std::uint64_t, std::uint64_t> open_;
  std::uint32_t of_hits_ = 0;  ///< checksum over (slice, hits)
  std::uint32_t of_rows_ = 0;
};

}  // namespace eventloom
