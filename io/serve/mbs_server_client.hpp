#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "io/serve/mbs_sender_packer.hpp"
#include "io/serve/mbs_server_request.hpp"
#include "io/serve/mbs_server_socket.hpp"

namespace eventloom {

/// How a client's connection ended.
enum class MbsClientEnd : std::uint8_t {
  none,       ///< still open
  served,     ///< all data were sent
  left,       ///< closed by the client
  unread,     ///< closed by the client, which had not read all pushed data
  timed_out,  ///< the client was idle for too long
  refused,    ///< the client sent an invalid request
};

/// Data sent to a client, and data dropped because it was too slow.
struct MbsClientCounts {
  std::uint64_t events = 0;
  std::uint64_t buffers = 0;
  std::uint64_t bytes = 0;
  std::uint64_t dropped_events = 0;
  std::uint64_t dropped_buffers = 0;

  void add(const MbsClientCounts& other) {
    events += other.events;
    buffers += other.buffers;
    bytes += other.bytes;
    dropped_events += other.dropped_events;
    dropped_buffers += other.dropped_buffers;
  }
};

/// One client's connection: its queue and its progress. Never blocks. Times are in nanoseconds of the steady clock.
///
/// Not every peer that connects is a client: Open MPI looks for X displays at ports from 6000 on, and port scanners
/// connect to any port. A peer is admitted once it follows the protocol: if data are sent by request, with its first
/// request, else after a time of silence. An X client sends 12 bytes at once.
class MbsServerClient {
 public:
  /// `socket`: connected and non-blocking. `by_request`: send each group only on request.
  MbsServerClient(MbsServerSocket socket, std::string name, bool by_request, MbsGroupPtr handshake, std::int64_t now);

  [[nodiscard]] int fd() const { return socket_.fd(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const MbsClientCounts& counts() const { return counts_; }
  [[nodiscard]] MbsClientEnd end() const { return end_; }
  [[nodiscard]] bool is_finishing() const { return finishing_; }
  [[nodiscard]] bool is_admitted() const { return admitted_; }
  /// Admits the peer if it is due, without requests `silence` after it connected. Returns true if this call admitted
  /// it.
  bool admit(std::int64_t now, std::int64_t silence);
  /// Whether the peer will be admitted if it remains silent.
  [[nodiscard]] bool is_on_trial() const { return !admitted_ && !by_request_; }

  /// Appends a group to the queue.
  void queue(MbsGroupPtr group);
  /// Whether requested groups are not yet available.
  [[nodiscard]] bool is_waiting() const { return requests_ > 0 && queue_.empty() && sending_ == nullptr; }
  [[nodiscard]] bool is_empty() const { return queue_.empty(); }
  /// Size of the groups whose sending has not begun.
  [[nodiscard]] std::size_t queued_bytes() const { return queued_bytes_; }
  /// Drops and counts the oldest of these groups.
  void drop_oldest();
  /// Groups that have not been sent completely, oldest first. If the connection was reset, they begin with the last
  /// reply, unless another request has confirmed it.
  [[nodiscard]] std::deque<MbsGroupPtr> unsent() const;
  /// Counts the events of a group that was delivered to no other client.
  void count_alone(std::uint64_t events) { alone_events_ += events; }
  [[nodiscard]] std::uint64_t alone_events() const { return alone_events_; }

  /// No more groups follow: sends the queue, then closes the connection.
  void finish() { finishing_ = true; }
  /// Like finish(), but drops groups whose sending has not begun.
  void cut();

  /// Whether to poll the socket for reading and for writing.
  [[nodiscard]] bool reads() const;
  [[nodiscard]] bool writes() const;
  void receive(std::int64_t now);
  /// Handles a connection closed by the client or broken. `reset`: the client had not read all data.
  void hang_up(bool reset);
  void send(std::int64_t now);
  /// Ends the connection when the client has taken no data from a non-empty queue for `timeout`.
  void expire(std::int64_t now, std::int64_t timeout);

 private:
  [[nodiscard]] bool may_begin() const { return !queue_.empty() && (!by_request_ || requests_ > 0); }
  [[nodiscard]] bool has_unacknowledged_data() const;
  void begin_next();
  void end_group();
  void take_back_reply();
  void answer(MbsRequest request);
  void close_writing(std::int64_t now);

  MbsServerSocket socket_;
  std::string name_;
  bool by_request_;
  std::int64_t connected_at_;
  bool admitted_ = false;
  MbsRequestDecoder decoder_;
  std::uint32_t requests_ = 0;  ///< unanswered requests
  std::deque<MbsGroupPtr> queue_;
  std::size_t queued_bytes_ = 0;
  MbsGroupPtr sending_;
  std::size_t sent_ = 0;       ///< bytes of sending_ that have been sent
  MbsGroupPtr unconfirmed_;    ///< the last reply, until the client sends another request
  std::int64_t taken_at_ = 0;  ///< last time when the client took data or its queue was empty
  bool finishing_ = false;
  bool closed_writing_ = false;
  MbsClientEnd end_ = MbsClientEnd::none;
  MbsClientCounts counts_;
  std::uint64_t alone_events_ = 0;
};

}  // namespace eventloom
