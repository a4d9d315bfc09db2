#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "app/observe/run_snapshot.hpp"

namespace eventloom {

/// How fast a sum of the rank grows.
inline double rate(const RunSnapshot& snapshot, std::size_t rank, std::uint64_t now, std::uint64_t before) {
  const double seconds = snapshot.seconds_reported(rank);
  return seconds <= 0 || now < before ? 0 : static_cast<double>(now - before) / seconds;
}

/// The row of this number as it was in RunSnapshot::before; an empty one if there was none.
template <class Row>
Row row_before(const RunSnapshot& snapshot, std::map<std::uint32_t, Row> RankRecord::*rows, std::size_t rank,
               std::uint32_t number) {
  if (rank >= snapshot.before.ranks().size()) return {};
  const auto& all = snapshot.before.ranks()[rank].*rows;
  const auto found = all.find(number);
  return found == all.end() ? Row{} : found->second;
}

/// 0 to 1: of its time, what a builder has spent on building.
inline double busy_share(const RunSnapshot& snapshot, std::size_t rank, const BuilderRow& row) {
  const auto before = row_before(snapshot, &RankRecord::builders, rank, row.builder);
  return std::min(1.0, rate(snapshot, rank, row.busy_ns, before.busy_ns) / 1e9);
}

}  // namespace eventloom
