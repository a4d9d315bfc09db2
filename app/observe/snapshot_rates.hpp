#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "app/observe/run_snapshot.hpp"

namespace eventloom {

/// Returns the rate at which a sum of the rank grows, per second.
inline double rate(const RunSnapshot& snapshot, std::size_t rank, std::uint64_t now, std::uint64_t before) {
  const double seconds = snapshot.seconds_reported(rank);
  return seconds <= 0 || now < before ? 0 : static_cast<double>(now - before) / seconds;
}

/// Returns the row of this number in RunSnapshot::before; an empty row if there was none.
template <class Row>
Row row_before(const RunSnapshot& snapshot, std::map<std::uint32_t, Row> RankRecord::*rows, std::size_t rank,
               std::uint32_t number) {
  if (rank >= snapshot.before.ranks().size()) return {};
  const auto& all = snapshot.before.ranks()[rank].*rows;
  const auto found = all.find(number);
  return found == all.end() ? Row{} : found->second;
}

/// Returns the fraction of its time that a builder spent building, 0 to 1.
inline double busy_share(const RunSnapshot& snapshot, std::size_t rank, const BuilderRow& row) {
  const auto before = row_before(snapshot, &RankRecord::builders, rank, row.builder);
  return std::min(1.0, rate(snapshot, rank, row.busy_ns, before.busy_ns) / 1e9);
}

}  // namespace eventloom
