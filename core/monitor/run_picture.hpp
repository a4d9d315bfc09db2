#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "core/monitor/channel_counts.hpp"
#include "core/monitor/rank_record.hpp"

namespace eventloom {

/// The state of a run as known to rank 0. A value: copies do not change.
class RunPicture {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::size_t kMostEvents = 20;

  explicit RunPicture(int ranks = 0) : records_(static_cast<std::size_t>(ranks)), heard_(records_.size()) {}

  /// Applies a message of a rank. Throws std::runtime_error if it is invalid.
  void take(int rank, std::span<const std::byte> message, Time now);

  [[nodiscard]] const std::vector<RankRecord>& ranks() const { return records_; }
  /// When the last message of the rank was received; Time{} before the first.
  [[nodiscard]] Time heard(int rank) const { return heard_[static_cast<std::size_t>(rank)]; }
  /// Whether all ranks have sent their last message.
  [[nodiscard]] bool complete() const;
  /// Totals of the run, over all ranks.
  [[nodiscard]] Counters totals() const;
  [[nodiscard]] std::map<std::uint32_t, Counters> of_sources() const;
  [[nodiscard]] LogHistogram histogram(HistogramKind kind) const;
  /// Fraction of the slices that every source has sent; std::nullopt while their number is unknown.
  [[nodiscard]] std::optional<double> share_sent() const;
  /// Fraction of cells in use, over all rings, 0 to 1.
  [[nodiscard]] double ring_fill() const;
  /// The latest events, in order of time.
  [[nodiscard]] const std::deque<LatestEvent>& events() const { return events_; }
  /// Hits of the events written.
  [[nodiscard]] const ChannelCounts& channels() const { return channels_; }
  /// Total size of all messages received.
  [[nodiscard]] std::uint64_t bytes_received() const { return bytes_received_; }

 private:
  std::vector<RankRecord> records_;
  std::vector<Time> heard_;
  std::deque<LatestEvent> events_;
  ChannelCounts channels_;
  std::uint64_t bytes_received_ = 0;
};

}  // namespace eventloom
