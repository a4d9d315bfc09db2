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
#include "io/udp/board_peer.hpp"
#include "io/udp/board_stream.hpp"

namespace eventloom {

/// One board of a port, shared by the receiving thread and the consumer.
class UdpBoard {
 public:
  UdpBoard(std::string name, const TimeBase& base, StreamHeader assumed, std::size_t most_bytes);

  /// The following functions are for the receiving thread.
  void take(const Datagram& datagram, const UdpPeer& from, std::int64_t now_ns);
  /// Requests missing data from a board that accepts requests.
  void ask_again(const UdpSocket& socket, std::int64_t now_ns);
  /// Whether requests may be due soon.
  [[nodiscard]] bool asks() const { return stream_.resends() && stream_.waiting(); }
  void pass_time(std::int64_t now_ns) { stream_.pass_time(now_ns, batch_); }
  void finish() { stream_.finish(batch_); }
  [[nodiscard]] bool heard() const { return stream_.heard(); }
  /// Ends a board from which nothing was received; reports this with the reason `why`, and counts an anomaly.
  void miss(const std::string& why);
  [[nodiscard]] bool waiting() const { return stream_.waiting(); }
  /// Puts the reassembled data into the queue. If the queue is full, waits if it may, else drops them as congested.
  void hand_over(bool may_wait);

  /// The following functions may be called by any thread.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] BoardHeader& header() { return header_; }
  [[nodiscard]] FeedQueue& queue() { return queue_; }
  [[nodiscard]] bool is_connected() const;
  [[nodiscard]] bool ended() const;
  [[nodiscard]] std::uint64_t anomalies() const;
  [[nodiscard]] Counters counters() const;
  /// Asks the receiving thread to end the board after taking the data that have arrived.
  void ask_to_stop() { stop_asked_ = true; }
  [[nodiscard]] bool asked_to_stop() const { return stop_asked_; }

 private:
  void publish();
  void leave_out();

  const std::string name_;
  BoardHeader header_;
  BoardStream stream_;
  FeedQueue queue_;
  BoardPeer peer_;
  FeedBatch batch_;
  std::uint64_t missed_ = 0;
  std::atomic<bool> stop_asked_ = false;

  mutable std::mutex mutex_;  ///< protects the members below, a copy of stream_'s state for other threads
  Counters counters_;
  std::uint64_t anomalies_ = 0;
  bool heard_ = false;
  bool ended_ = false;
};

}  // namespace eventloom
