#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/ids.hpp"
#include "formats/ring_layout.hpp"

namespace eventloom {

/// Which rank plays which roles: role k runs on rank k mod np; sources first, then builders, then filters. Sources that
/// share an input run on the rank of the first of them.
struct Roles {
  std::uint32_t sources = 0;
  std::uint32_t builders = 1;
  std::uint32_t filters = 0;
  int ranks = 1;
  /// Indexed by source: the source whose rank it runs on, itself if it shares no input. Empty: no inputs are shared.
  std::vector<std::uint32_t> homes = {};

  [[nodiscard]] int rank_of(SourceId source) const {
    return rank_of_role(homes.empty() ? source.value : homes[source.value]);
  }
  [[nodiscard]] int rank_of(BuilderId builder) const { return rank_of_role(sources + builder.value); }
  [[nodiscard]] int rank_of(FilterId filter) const { return rank_of_role(sources + builders + filter.value); }
  /// Ranks with at least one source, ascending.
  [[nodiscard]] std::vector<int> source_ranks() const;
  /// Ranks with at least one builder, ascending.
  [[nodiscard]] std::vector<int> builder_ranks() const;
  /// Ranks with at least one writer, ascending.
  [[nodiscard]] std::vector<int> writer_ranks() const;
  /// Whether build-only ranks are at least as many as source ranks.
  [[nodiscard]] bool others_can_build() const;
  /// Ranks with a source or a builder, ascending.
  [[nodiscard]] std::vector<int> exchange_ranks() const;
  /// The rank that assigns slices, when builders claim them.
  [[nodiscard]] int assigner_rank() const { return rank_of(SourceId{0}); }
  /// Builders write if there are no filters.
  [[nodiscard]] std::uint32_t writers() const { return filters == 0 ? builders : filters; }
  [[nodiscard]] int rank_of_writer(std::uint32_t writer) const {
    return filters == 0 ? rank_of(BuilderId{writer}) : rank_of(FilterId{writer});
  }

 private:
  [[nodiscard]] int rank_of_role(std::uint32_t role) const {
    return static_cast<int>(role % static_cast<std::uint32_t>(ranks));
  }
};

/// A ring: its two ends, and its place in their windows.
struct RingLink {
  int sender = 0;
  int receiver = 0;
  std::uint64_t ring_offset = 0;    ///< descriptors in the receiver's window, bytes
  std::uint64_t cells_offset = 0;   ///< cells in the receiver's window, bytes
  std::uint64_t credit_offset = 0;  ///< credits in the sender's control window, bytes

  /// `geometry` with the place of this ring's cells.
  [[nodiscard]] RingGeometry placed(RingGeometry geometry) const {
    geometry.between = cells_offset - ring_offset - geometry.descriptor_bytes();
    return geometry;
  }
};

/// The rings of a run. A pure function of its arguments: every rank computes the same.
struct RingMap {
  /// `notes`: geometry of the rings to and from the assigner; std::nullopt: no such rings. `own`: keep only the
  /// rings to builders that begin or end on this rank; in a large run these are by far the longest lists.
  RingMap(const Roles& roles, RingGeometry geometry, std::optional<RingGeometry> notes, std::optional<int> own = {});

  std::vector<std::vector<RingLink>> to_builder;  ///< [builder], in the order of source_ranks()
  std::vector<std::vector<RingLink>> to_filter;   ///< [filter][builder]
  std::vector<RingLink> to_assigner;              ///< indexed as builder_ranks(); in the control windows
  std::vector<RingLink> from_assigner;            ///< indexed as exchange_ranks(); in the control windows
  std::vector<std::uint64_t> window_bytes;        ///< sizes of the data windows, by rank
  std::vector<std::uint64_t> control_bytes;       ///< sizes of the control windows, by rank

 private:
  void place_to_builders(const Roles& roles, const RingGeometry& geometry, std::optional<int> own);
  void place_cells_to_builders(const Roles& roles, const RingGeometry& geometry);
};

}  // namespace eventloom
