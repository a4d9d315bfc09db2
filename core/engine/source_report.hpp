#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/engine/source_stream.hpp"
#include "core/monitor/rank_record.hpp"

namespace eventloom {

/// What the sources of one rank have sent, as of now. Refers to the role that made it.
class SourceReport {
 public:
  SourceReport(const SharedBySources& shared, std::span<const SourceStream> streams)
      : shared_(shared), streams_(streams) {}

  /// Whether stop_at() has cut off data of a source, or may have; cut_off_recorded(): only sources that are not live.
  [[nodiscard]] bool cut_off() const;
  [[nodiscard]] bool cut_off_recorded() const;
  /// Sums over the sources on this rank: what was sent, late transfers, hits read, anomalies.
  [[nodiscard]] Counters counters() const;
  /// Adds the counts of each source on this rank, keyed by its number.
  void add_counts(std::map<std::uint32_t, SourceCounts>& counts) const;
  /// Remarks of the sources on this rank at the end, keyed by source number; see Source::remarks().
  void add_remarks(std::map<std::uint32_t, std::vector<std::string>>& remarks) const;
  /// Adds the end of the data of each source on this rank, where it is known, keyed by source number.
  void add_ends(std::map<std::uint32_t, Epoch>& ends) const;
  /// Adds the current values of all of the above, the bytes sent by each source, and the links to the builders.
  void add_to(RankRecord& record) const;

 private:
  [[nodiscard]] SourceState state_of(const SourceStream& stream) const;
  [[nodiscard]] std::uint64_t slices_sent() const;
  [[nodiscard]] std::optional<std::uint64_t> slices_expected() const;

  const SharedBySources& shared_;
  std::span<const SourceStream> streams_;
};

}  // namespace eventloom
