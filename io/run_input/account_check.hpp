#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "core/dataflow/run_totals.hpp"
#include "io/run_format/ledger_entry.hpp"
#include "io/run_format/run_record.hpp"
#include "io/run_input/open_output.hpp"

/// Whether the ledger, the events, the hits and the totals of a run say the same: what checksums cannot tell of files
/// of earlier versions, which have none.
namespace eventloom {

/// Reads /ledger, /events and /hits of a part or a merged file. Throws UserError that names dataset and row where they
/// contradict each other.
void check_account(const OpenOutput& open);

/// Throws UserError, with `place` for the name of the file, when a row of the ledger does not balance.
void expect_balance(const LedgerEntry& entry, const std::string& place);

/// Throws UserError when sums over a ledger are not those that the run states.
void expect_totals(const RunTotals& stated, const RunTotals& found, const std::string& place);

/// Compares the hits of events, in the order of events, with the ledger, in the order of slices, slice by slice and in
/// constant memory.
class SliceHits {
 public:
  explicit SliceHits(const RunRecord& record);

  /// The hits of the next events.
  void add_hits(std::span<const Tick> times);
  /// No hit that is added later is before `time`, nor has been since the events before it.
  void pass(Tick time);
  void add_row(const LedgerRow& row);
  /// After all hits and rows. Throws UserError.
  void check(const std::string& place);

 private:
  void end_stretch();
  void close_before(std::uint64_t slice);

  bool compares_;  ///< of runs that lost data, slices may count hits of events that others cut
  Tick slice_ticks_;
  Tick begin_ = 0;             ///< of the slice of the last hit
  std::uint64_t stretch_ = 0;  ///< hits in a row in that slice
  std::map<std::uint64_t, std::uint64_t> open_;
  std::uint32_t of_hits_ = 0;  ///< sums of (slice, hits)
  std::uint32_t of_rows_ = 0;
};

}  // namespace eventloom
