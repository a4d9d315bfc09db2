#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "run_case.hpp"

namespace eventloom::test {

/// The hits of each source that are left, with corrected times, and the row of each slice with its dropped hits.
struct RemainingHits {
  std::vector<std::vector<RefHit>> hits;
  std::map<std::uint64_t, LedgerRow> dropped;
};
/// Found by loops over all hits of each source: copies, the detector, the stretch of time, dead times.
RemainingHits remaining_hits(const RunCase& of);

/// The expected contents by slice, found serially over the whole stream; only slices with hits.
std::map<std::uint64_t, BuiltSlice> expected_slices(const RunCase& of);

/// The first difference between the accounts, the events or the hits of two slices, or "".
std::string difference_of_contents(const BuiltSlice& found, const BuiltSlice& wanted);

/// The first difference between `outcome` and the serial reference, or "": in all unfinished slices, or, if the run was
/// stopped, in those before the slice at which it ended.
std::string difference(const RunCase& of, const Outcome& outcome, bool stopped = false);

}  // namespace eventloom::test
