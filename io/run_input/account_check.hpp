#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "core/dataflow/run_totals.hpp"
#include "io/hdf5/handle.hpp"
#include "io/run_format/ledger_entry.hpp"
#include "io/run_format/run_record.hpp"

/// Checks that ledger, events, hits and totals of a run agree. This finds damage in files of earlier versions, which
/// lack checksums.
namespace eventloom {

/// Reads /ledger, /events and /hits of a part or a merged file. Throws UserError with dataset and row when they
/// disagree.
void check_account(hid_t file, const std::string& name);

/// Throws UserError when a row of the ledger does not balance. `place` names the file.
void expect_balance(const LedgerEntry& entry, const std::string& place);

/// Throws UserError when sums over a ledger differ from those that the run states.
void expect_totals(const RunTotals& stated, const RunTotals& found, const std::string& place);

/// Compares the hits of events, in event order, with the ledger, in slice order, for each slice and in constant memory.
class SliceHits {
 public:
  explicit SliceHits(const RunRecord& record);

  /// Adds the hits of the next events.
  void add_hits(std::span<const Tick> times);
  /// Hits added later are not before `time`: slices before its slice are complete.
  void pass(Tick time);
  void add_row(const LedgerRow& row);
  /// Call after all hits and rows. Throws UserError.
  void check(const std::string& place);

 private:
  void end_stretch();
  void close_before(std::uint64_t slice);

  bool compares_;  ///< off for runs that lost data: slices may count hits of events that others cut
  Tick slice_ticks_;
  Tick begin_ = 0;             ///< start of the slice of the last hit
  std::uint64_t stretch_ = 0;  ///< consecutive hits in that slice
  std::map<std::uint64_t, std::uint64_t> open_;
  std::uint32_t of_hits_ = 0;  ///< checksum of the (slice, hits) pairs
  std::uint32_t of_rows_ = 0;
};

}  // namespace eventloom
