#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "core/dataflow/source.hpp"
#include "core/runtime/message_limit.hpp"
#include "formats/datagram.hpp"
#include "io/live/feed_queue.hpp"
#include "io/udp/board_claim.hpp"
#include "io/udp/board_header.hpp"
#include "io/udp/board_peer.hpp"
#include "io/udp/board_stream.hpp"
#include "io/udp/board_successor.hpp"

namespace eventloom {

/// One board of a port, shared by the receiving thread and the consumer.
///
/// Only what comes from the board's address is believed (BoardPeer). What another one sends in its name waits: it is
/// believed if the board is then silent, and foreign if the board is heard again. An end, after which nothing is taken,
/// is believed only of the session that it ends, and of an address that took the place of a silent board only if data
/// came from there, too, see BoardSuccessor.
class UdpBoard {
 public:
  UdpBoard(std::string name, const TimeBase& base, StreamHeader assumed, std::size_t most_bytes);

  /// The following functions are for the receiving thread.
  void take(const Datagram& datagram, const UdpPeer& from, std::int64_t now_ns);
  /// Requests missing data from a board that accepts requests.
  void ask_again(const UdpSocket& socket, std::int64_t now_ns);
  /// Whether requests may be due soon.
  [[nodiscard]] bool asks() const { return stream_.resends() && stream_.waiting(); }
  /// Call only after taking all datagrams that have arrived, as for BoardStream.
  void pass_time(std::int64_t now_ns);
  void finish();
  /// Whether pass_time() must be called soon.
  [[nodiscard]] bool waiting() const {
    return stream_.waiting() || !claim_.empty() || (successor_ && successor_->waits());
  }
  /// Puts the reassembled data into the queue. If the queue is full, waits if it may, else drops them as congested.
  void hand_over(bool may_wait);

  /// The following functions may be called by any thread.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] BoardHeader& header() { return header_; }
  [[nodiscard]] FeedQueue& queue() { return queue_; }
  [[nodiscard]] bool heard() const;
  [[nodiscard]] bool is_connected() const;
  [[nodiscard]] bool ended() const;
  [[nodiscard]] std::uint64_t anomalies() const;
  [[nodiscard]] Counters counters() const;
  /// Asks the receiving thread to end the board after taking the data that have arrived.
  void ask_to_stop() { stop_asked_ = true; }
  [[nodiscard]] bool asked_to_stop() const { return stop_asked_; }

 private:
  void take_believed(const Datagram& datagram, const UdpPeer& from, std::int64_t now_ns);
  bool believes_end(const Datagram& datagram, const UdpPeer& from, std::int64_t now_ns);
  void take_due_end(std::int64_t now_ns);
  void refuse_claim();
  void refuse(const Datagram& datagram, const UdpPeer& from, const char* why);
  void publish();
  void leave_out();

  const std::string name_;
  BoardHeader header_;
  BoardStream stream_;
  FeedQueue queue_;
  BoardPeer peer_;
  BoardClaim claim_;
  std::optional<BoardSuccessor> successor_;
  FeedBatch batch_;
  std::uint64_t foreign_ = 0;  ///< datagrams not believed
  bool foreign_data_ = false;  ///< some of them had data, which may have been the board's
  MessageLimit told_foreign_{3};
  std::atomic<bool> stop_asked_ = false;

  mutable std::mutex mutex_;  ///< protects the members below, a copy of stream_'s state for other threads
  Counters counters_;
  std::uint64_t anomalies_ = 0;
  bool heard_ = false;
  bool ended_ = false;
};

}  // namespace eventloom
