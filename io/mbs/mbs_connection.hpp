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

/// The buffers of an MBS server, over one connection or, on request, over several: a lost server is searched for, after
/// 0.1 s and then twice as long each time up to 5 s. Requests replies from stream servers one at a time. Events of the
/// connection are reported once; nothing a peer does throws.
class MbsConnection {
 public:
  /// Throws UserError when the host does not exist, or when nothing answers and `reconnect` is 0. `reconnect`: how long
  /// a lost server is searched for; 0: not at all. `stop` outlives this.
  MbsConnection(MbsAddress address, std::chrono::duration<double> reconnect, const MbsStop& stop);
  ~MbsConnection();
  MbsConnection(const MbsConnection&) = delete;
  MbsConnection& operator=(const MbsConnection&) = delete;

  enum class Step : std::uint8_t {
    buffer,   ///< see buffer(); one shorter than its length is the last of a connection that broke off
    empty,    ///< an empty one: buffer() has its header
    nothing,  ///< at the moment
    lost,     ///< the connection broke off, was unintelligible, or never existed: data are missing
    again,    ///< a new connection: its data do not continue the earlier ones
    ended,    ///< nothing will follow
  };
  /// Proceeds, waiting at most this long. Invalidates buffer().
  Step next(std::chrono::milliseconds most);

  [[nodiscard]] const LmdBuffer& buffer() const { return decoder_.buffer(); }
  /// In the stream of all connections, bytes.
  [[nodiscard]] std::uint64_t offset() const { return decoder_.offset(); }
  /// No connection will follow the lost one.
  [[nodiscard]] bool is_over() const { return state_ == State::ended; }

  /// Any thread.
  [[nodiscard]] bool is_connected() const { return connected_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class State : std::uint8_t { looking, connected, ended };

  std::optional<Step> go_on(std::chrono::milliseconds most);
  std::optional<Step> receive(std::chrono::milliseconds most);
  std::optional<Step> break_off(bool closed);
  std::optional<Step> end_connection(bool in_order, const std::string& why);
  void end();
  void search_for_server(bool anew);
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

  bool greeted_before_ = false;  ///< a handshake has come
  bool looked_for_ = false;      ///< it did not answer at once
  bool lost_data_ = false;       ///< with the last connection
  bool of_use_ = false;          ///< a buffer has come over this connection
  bool asks_ = false;            ///< data come only on request
  std::uint32_t awaited_ = 0;    ///< buffers of the reply under way

  Clock::time_point lost_at_;  ///< start of the search
  Clock::time_point next_try_;
  Clock::duration pause_{};  ///< before the next attempt
  Clock::time_point connected_at_;
  Clock::time_point heard_at_;
  bool silence_told_ = false;

  Counters counters_{Metric::mbs_buffers, Metric::mbs_empty_buffers, Metric::mbs_bytes, Metric::connections_lost,
                     Metric::reconnects};
};

}  // namespace eventloom
