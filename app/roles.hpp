#pragma once

#include <cstdint>
#include <vector>

#include "formats/ids.hpp"
#include "formats/ring_layout.hpp"

namespace eventloom {

/// Which rank plays what: role k runs on rank k mod np; sources first, then builders, then filters.
struct Roles {
  std::uint32_t sources = 0;
  std::uint32_t builders = 1;
  std::uint32_t filters = 0;
  int ranks = 1;

  [[nodiscard]] int rank_of(SourceId source) const { return rank_of_role(source.value); }
  [[nodiscard]] int rank_of(BuilderId builder) const { return rank_of_role(sources + builder.value); }
  [[nodiscard]] int rank_of(FilterId filter) const { return rank_of_role(sources + builders + filter.value); }
  /// Ranks with at least one source, rising.
  [[nodiscard]] std::vector<int> source_ranks() const;
  /// Builders write themselves when there are no filters.
  [[nodiscard]] std::uint32_t writers() const { return filters == 0 ? builders : filters; }

 private:
  [[nodiscard]] int rank_of_role(std::uint32_t role) const {
    return static_cast<int>(role % static_cast<std::uint32_t>(ranks));
  }
};

/// A ring: its two ends and where it lies in their windows.
struct RingLink {
  int sender = 0;
  int receiver = 0;
  std::uint64_t ring_offset = 0;    ///< in the receiver's window, bytes
  std::uint64_t credit_offset = 0;  ///< in the sender's window, bytes
};

/// All rings of a run. A function of its arguments: every rank computes the same.
struct RingMap {
  RingMap(const Roles& roles, RingGeometry geometry);

  std::vector<std::vector<RingLink>> to_builder;  ///< [builder][index of the rank in source_ranks()]
  std::vector<std::vector<RingLink>> to_filter;   ///< [filter][builder]
  std::vector<std::uint64_t> window_bytes;        ///< by rank
};

}  // namespace eventloom
