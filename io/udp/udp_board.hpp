#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "core/dataflow/source.hpp"
#include "formats/datagram.hpp"
#include "io/live/feed_queue.hpp"
#include "io/udp/board_header.hpp"
#include "io/udp/board_stream.hpp"

namespace eventloom {

/// One board of a port: shared by the thread that receives and the one that takes.
class UdpBoard {
 public:
  UdpBoard(std::string name, const TimeBase& base, StreamHeader assumed, std::size_t most_bytes);

  /// The receiving thread.
  void take(const Datagram& datagram, std::int64_t now_ns) { stream_.take(datagram, now_ns, batch_); }
  void pass_time(std::int64_t now_ns) { stream_.pass_time(now_ns, batch_); }
  void finish() { stream_.finish(batch_); }
  [[nodiscard]] bool heard() const { return stream_.heard(); }
  /// The end of a board from which nothing was received, which is reported and counts as an anomaly. `why`: for
  /// messages.
  void miss(const std::string& why);
  [[nodiscard]] bool waiting() const { return stream_.waiting(); }
  /// Puts the reassembled data into the queue. While that is full: waits, or drops them as congested.
  void hand_over(bool may_wait);

  /// Any thread.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] BoardHeader& header() { return header_; }
  [[nodiscard]] FeedQueue& queue() { return queue_; }
  [[nodiscard]] bool is_connected() const;
  [[nodiscard]] bool ended() const;
  [[nodiscard]] std::uint64_t anomalies() const;
  [[nodiscard]] Counters counters() const;
  /// Nothing more is to be received; the receiving thread ends the board after taking what has arrived.
  void ask_to_stop() { stop_asked_ = true; }
  [[nodiscard]] bool asked_to_stop() const { return stop_asked_; }

 private:
  void publish();
  void leave_out();

  const std::string name_;
  BoardHeader header_;
  BoardStream stream_;
  FeedQueue queue_;
  FeedBatch batch_;
  std::uint64_t missed_ = 0;
  std::atomic<bool> stop_asked_ = false;

  mutable std::mutex mutex_;  ///< protects the members below: the state of stream_ for other threads
  Counters counters_;
  std::uint64_t anomalies_ = 0;
  bool heard_ = false;
  bool ended_ = false;
};

}  // namespace eventloom
