#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/dataflow/source.hpp"
#include "io/mbs/mbs_address.hpp"
#include "io/mbs/mbs_decoder.hpp"
#include "io/mbs/mbs_socket.hpp"

namespace eventloom {

/// Receives the buffers of an MBS server. On request, reconnects to a lost server: after 0.1 s, then at intervals that
/// double up to 5 s. Requests replies from stream servers one at a time. Reports each event of the connection once. A
/// peer's behaviour never causes an exception.
class MbsConnection {
 public:
  /// `reconnect`: how long to search for a lost server; 0: not at all. `stop` must outlive this object. Throws
  /// UserError when the host does not exist, or when nothing answers and `reconnect` is 0.
  MbsConnection(MbsAddress address, std::chrono::duration<double> reconnect, const MbsStop& stop);
  ~MbsConnection();
  MbsConnection(const MbsConnection&) = delete;
  MbsConnection& operator=(const MbsConnection&) = delete;

  enum class Step : std::uint8_t {
    buffer,   ///< see buffer(); if shorter than its length, it is the last of a broken connection
    empty,    ///< an empty buffer; buffer() has its header
    nothing,  ///< no data at present
    lost,     ///< the connection broke off, sent invalid data, or was never established: data are missing
    again,    ///< a new connection, whose data do not continue the earlier ones
    ended,    ///< no more data follow
  };
  /// Advances to the next step, waiting at most `most`. Invalidates buffer().
  Step next(std::chrono::milliseconds most);

  [[nodiscard]] const LmdBuffer& buffer() const { return decoder_.buffer(); }
  /// Offset in the stream of all connections, bytes.
  [[nodiscard]] std::uint64_t offset() const { return decoder_.offset(); }
  /// Whether no more connections follow.
  [[nodiscard]] bool is_over() const { return state_ == State::ended; }

  /// The following functions may be called by any thread.
  [[nodiscard]] bool is_connected() const { return connected_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class State : std::uint8_t { looking, connected, ended };

  std::optional<Step> receive_step(std::chrono::milliseconds most);
  std::optional<Step> receive(std::chrono::milliseconds most);
  std::optional<Step> break_off(bool closed);
  std::optional<Step> end_connection(bool in_order, const std::string& why);
  void end();
  void search_for_server(bool restarts);
  [[nodiscard]] Clock::time_point give_up_at() const;
  std::optional<Step> look(std::chrono::milliseconds most);
  Step give_up(const std::string& why);
  void begin_connection();
  std::optional<Step> greet();
  void ask();
  void count_buffer();
  void note_sign_of_life();
  void watch_silence();

  MbsAddress address_;
  std::chrono::duration<double> reconnect_;
  const MbsStop& stop_;
  MbsHost host_;
  std::unique_ptr<MbsSocket> socket_;
  MbsDecoder decoder_{0};
  State state_ = State::looking;
  std::atomic<bool> connected_{false};

  bool greeted_before_ = false;  ///< a handshake has been received on any connection
  bool looked_for_ = false;      ///< the server has been searched for
  bool lost_data_ = false;       ///< the last connection lost data
  bool received_any_ = false;    ///< this connection has delivered a buffer
  bool asks_ = false;            ///< the server sends only on request
  std::uint32_t awaited_ = 0;    ///< buffers missing from the current reply

  Clock::time_point lost_at_;  ///< start of the search
  Clock::time_point next_try_;
  Clock::duration pause_{};  ///< delay before the next attempt
  Clock::time_point connected_at_;
  Clock::time_point heard_at_;
  bool silence_reported_ = false;

  Counters counters_{Metric::mbs_buffers, Metric::mbs_empty_buffers, Metric::mbs_bytes, Metric::connections_lost,
                     Metric::reconnects};
};

}  // namespace eventloom
