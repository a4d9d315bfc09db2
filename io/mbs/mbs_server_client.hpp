#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "io/mbs/mbs_sender_packer.hpp"
#include "io/mbs/mbs_server_request.hpp"
#include "io/mbs/mbs_server_socket.hpp"

namespace eventloom {

/// How a client's connection ended.
enum class MbsClientEnd : std::uint8_t {
  none,       ///< it has not
  served,     ///< it was sent all that there was for it
  left,       ///< by itself
  timed_out,  ///< it took nothing for too long
  refused,    ///< it said what no client says
};

/// What a client was sent, and what it was not as it was too slow.
struct MbsClientCounts {
  std::uint64_t events = 0;
  std::uint64_t buffers = 0;
  std::uint64_t bytes = 0;
  std::uint64_t dropped_events = 0;
  std::uint64_t dropped_buffers = 0;
};

/// One client's connection: what waits for it, and how far it has got. Never blocks. Times are nanoseconds of the
/// steady clock.
class MbsServerClient {
 public:
  /// `socket`: connected, not blocking. `by_request`: each group is sent only when it has been asked for.
  MbsServerClient(MbsServerSocket socket, std::string name, bool by_request, MbsGroupPtr handshake, std::int64_t now);

  [[nodiscard]] int fd() const { return socket_.fd(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const MbsClientCounts& counts() const { return counts_; }
  [[nodiscard]] MbsClientEnd end() const { return end_; }
  [[nodiscard]] bool is_finishing() const { return finishing_; }

  /// Puts a group behind those that wait.
  void queue(MbsGroupPtr group);
  /// Groups that have been asked for and are not there yet.
  [[nodiscard]] bool is_waiting() const { return requests_ > 0 && queue_.empty() && sending_ == nullptr; }
  [[nodiscard]] bool is_empty() const { return queue_.empty(); }
  /// Of groups of which nothing has been sent.
  [[nodiscard]] std::size_t queued_bytes() const { return queued_bytes_; }
  /// Leaves out the oldest of them, and counts that.
  void drop_oldest();

  /// No more groups come: what waits is sent, then the connection is closed.
  void finish() { finishing_ = true; }
  /// As finish(), but what has not been begun is not sent.
  void cut();

  /// Whether bytes from it are wanted, and whether it can be sent some.
  [[nodiscard]] bool reads() const;
  [[nodiscard]] bool writes() const;
  void receive(std::int64_t now);
  /// The client has closed the connection, or it has broken.
  void hang_up();
  void send(std::int64_t now);
  /// Ends the connection when the client has taken nothing of what waits for it for `timeout`.
  void expire(std::int64_t now, std::int64_t timeout);

 private:
  [[nodiscard]] bool may_begin() const { return !queue_.empty() && (!by_request_ || requests_ > 0); }
  void begin_next();
  void answer(MbsRequest request);
  void close_writing(std::int64_t now);

  MbsServerSocket socket_;
  std::string name_;
  bool by_request_;
  MbsRequestDecoder decoder_;
  std::uint32_t requests_ = 0;  ///< that are not answered
  std::deque<MbsGroupPtr> queue_;
  std::size_t queued_bytes_ = 0;
  MbsGroupPtr sending_;
  std::size_t sent_ = 0;       ///< bytes of sending_
  std::int64_t taken_at_ = 0;  ///< when it last took something, or nothing waited for it
  bool finishing_ = false;
  bool closed_writing_ = false;
  MbsClientEnd end_ = MbsClientEnd::none;
  MbsClientCounts counts_;
};

}  // namespace eventloom
