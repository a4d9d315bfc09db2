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

/// What rank 0 knows of a run. A value: a copy stays as it is.
class RunPicture {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::size_t kMostEvents = 20;

  explicit RunPicture(int ranks = 0) : records_(static_cast<std::size_t>(ranks)), heard_(records_.size()) {}

  /// A message of a rank. Throws std::runtime_error when it is none.
  void take(int rank, std::span<const std::byte> message, Time now);

  [[nodiscard]] const std::vector<RankRecord>& ranks() const { return records_; }
  /// When the rank was heard last; the beginning of time before its first message.
  [[nodiscard]] Time heard(int rank) const { return heard_[static_cast<std::size_t>(rank)]; }
  /// All ranks have sent their last message.
  [[nodiscard]] bool complete() const;
  /// Of the run, over all ranks.
  [[nodiscard]] Counters totals() const;
  [[nodiscard]] std::map<std::uint32_t, Counters> of_sources() const;
  [[nodiscard]] LogHistogram histogram(HistogramKind kind) const;
  /// How much of the slices every source has sent; nothing while it is not known about how many there will be.
  [[nodiscard]] std::optional<double> share_sent() const;
  /// Used cells of all rings, 0 to 1.
  [[nodiscard]] double ring_fill() const;
  /// The latest, by time.
  [[nodiscard]] const std::deque<LatestEvent>& events() const { return events_; }
  /// Hits of the events written.
  [[nodiscard]] const ChannelCounts& channels() const { return channels_; }
  /// Of all messages.
  [[nodiscard]] std::uint64_t bytes_received() const { return bytes_received_; }

 private:
  std::vector<RankRecord> records_;
  std::vector<Time> heard_;
  std::deque<LatestEvent> events_;
  ChannelCounts channels_;
  std::uint64_t bytes_received_ = 0;
};

}  // namespace eventloom
