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
  none,       ///< it is open
  served,     ///< everything was sent
  left,       ///< closed by the client
  unread,     ///< closed by the client, with pushed data that it had not read
  timed_out,  ///< it was idle for too long
  refused,    ///< it sent an invalid request
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

/// One client's connection: its queue and its progress. Never blocks. Times are nanoseconds of the steady clock.
///
/// Not everything that connects is a client: Open MPI looks for X displays at the ports from 6000 on, others see which
/// ports are open. It is admitted as a client once it speaks the protocol: by request with its first request, else when
/// it has said nothing for a while. An X client sends 12 bytes at once.
class MbsServerClient {
 public:
  /// `socket`: connected, non-blocking. `by_request`: each group is sent only on request.
  MbsServerClient(MbsServerSocket socket, std::string name, bool by_request, MbsGroupPtr handshake, std::int64_t now);

  [[nodiscard]] int fd() const { return socket_.fd(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const MbsClientCounts& counts() const { return counts_; }
  [[nodiscard]] MbsClientEnd end() const { return end_; }
  [[nodiscard]] bool is_finishing() const { return finishing_; }
  [[nodiscard]] bool is_admitted() const { return admitted_; }
  /// Admits it if that is due, `silence` after it connected: true when this call has.
  bool admit(std::int64_t now, std::int64_t silence);
  /// Whether it is admitted when it goes on saying nothing.
  [[nodiscard]] bool is_on_trial() const { return !admitted_ && !by_request_; }

  /// Appends a group to the queue.
  void queue(MbsGroupPtr group);
  /// Groups requested and not available yet.
  [[nodiscard]] bool is_waiting() const { return requests_ > 0 && queue_.empty() && sending_ == nullptr; }
  [[nodiscard]] bool is_empty() const { return queue_.empty(); }
  /// Of groups of which nothing has been sent.
  [[nodiscard]] std::size_t queued_bytes() const { return queued_bytes_; }
  /// Drops the oldest of them, and counts it.
  void drop_oldest();
  /// Groups that it has not been sent completely, oldest first.
  [[nodiscard]] std::deque<MbsGroupPtr> unsent() const;
  /// Events of a group that was delivered to no other client.
  void count_alone(std::uint64_t events) { alone_events_ += events; }
  [[nodiscard]] std::uint64_t alone_events() const { return alone_events_; }

  /// No more groups follow: the queue is sent, then the connection is closed.
  void finish() { finishing_ = true; }
  /// As finish(), but drops groups that have not been begun.
  void cut();

  /// Whether to read from it, and whether there is something to send.
  [[nodiscard]] bool reads() const;
  [[nodiscard]] bool writes() const;
  void receive(std::int64_t now);
  /// The client has closed the connection, or it is broken. `reset`: it had not read everything.
  void hang_up(bool reset);
  void send(std::int64_t now);
  /// Ends the connection when the client has taken nothing from a nonempty queue for `timeout`.
  void expire(std::int64_t now, std::int64_t timeout);

 private:
  [[nodiscard]] bool may_begin() const { return !queue_.empty() && (!by_request_ || requests_ > 0); }
  [[nodiscard]] bool has_data_under_way() const;
  void begin_next();
  void answer(MbsRequest request);
  void close_writing(std::int64_t now);

  MbsServerSocket socket_;
  std::string name_;
  bool by_request_;
  std::int64_t connected_at_;
  bool admitted_ = false;
  MbsRequestDecoder decoder_;
  std::uint32_t requests_ = 0;  ///< unanswered ones
  std::deque<MbsGroupPtr> queue_;
  std::size_t queued_bytes_ = 0;
  MbsGroupPtr sending_;
  std::size_t sent_ = 0;       ///< bytes of sending_
  std::int64_t taken_at_ = 0;  ///< when it last took data, or its queue was empty
  bool finishing_ = false;
  bool closed_writing_ = false;
  MbsClientEnd end_ = MbsClientEnd::none;
  MbsClientCounts counts_;
  std::uint64_t alone_events_ = 0;
};

}  // namespace eventloom
