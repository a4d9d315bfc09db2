#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "formats/geometry.hpp"
#include "io/live/live_feed.hpp"
#include "io/udp/other_boards.hpp"
#include "io/udp/udp_board.hpp"
#include "io/udp/udp_socket.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// A parsed udp://[ADDR]:PORT[?sources=3,5,9][&payload=N].
struct UdpPortSettings {
  std::string place;                   ///< HOST:PORT
  std::vector<std::uint32_t> sources;  ///< ids of the boards; empty: only the first heard
  PayloadTable payload;                ///< used until a board has sent its own
  std::size_t buffer_bytes = 0;        ///< capacity of each board's queue
  std::size_t receive_bytes = UdpSocket::kReceiveBytes;

  /// Throws UserError when the URI is not of this form.
  static UdpPortSettings of(const SourceUri& uri, const LiveInputSettings& live);
};

/// A port that one or more boards send to, with one receiving thread for all of them.
///
/// When the queue of a port's only board is full, the thread waits; the system then drops excess datagrams and counts
/// them. With several boards, the thread does not wait, as the run may be waiting for another board; it drops the data
/// of the board with the full queue as congested.
class UdpPort {
 public:
  /// Binds the port and starts receiving. `base`: the run's time base. Throws UserError.
  UdpPort(const UdpPortSettings& settings, const TimeBase& base);
  /// Ends the thread, even if it is waiting.
  ~UdpPort();
  UdpPort(const UdpPort&) = delete;
  UdpPort& operator=(const UdpPort&) = delete;

  /// The following functions may be called by any thread.
  [[nodiscard]] std::size_t n_boards() const { return boards_.size(); }
  [[nodiscard]] UdpBoard& board(std::size_t index) { return *boards_.at(index); }
  /// Makes the thread take the data that have arrived and end this board; it exits when all boards have ended.
  void stop_board(std::size_t index);
  /// Counts of the port that belong to no board.
  [[nodiscard]] Counters counters() const;
  /// If the user names no boards: the number of boards besides the one received, and remarks on them.
  [[nodiscard]] std::uint64_t other_boards() const { return others_.boards(); }
  [[nodiscard]] std::vector<std::string> remarks() const;
  /// Says, for a board that was never heard, what came to its port instead.
  [[nodiscard]] std::string what_came() const;
  [[nodiscard]] std::uint16_t number() const { return socket_.port(); }

 private:
  void run();
  [[nodiscard]] int patience_ms() const;
  void receive_all();
  bool receive_batch();
  void dispatch(std::span<const std::byte> bytes, const UdpPeer& from, std::int64_t now_ns);
  UdpBoard* board_of(const DatagramHeader& header);
  void note_malformed();
  void note_foreign(const Datagram& datagram);
  void pass_time();
  void hand_over();
  [[nodiscard]] bool all_ended() const;

  UdpSocket socket_;
  std::vector<std::unique_ptr<UdpBoard>> boards_;
  const std::string place_;               ///< HOST:PORT, for messages
  const bool named_;                      ///< the user names the boards
  std::vector<std::uint32_t> sources_;    ///< ids of the boards; empty: not known yet
  OtherBoards others_;                    ///< used if the user names none
  std::atomic<std::uint32_t> first_ = 0;  ///< the board heard first, if the user names none
  std::size_t full_batches_ = 0;          ///< number since the socket was last empty
  std::atomic<std::uint64_t> kernel_drops_ = 0;
  std::atomic<std::uint64_t> malformed_ = 0;
  std::atomic<std::uint64_t> foreign_ = 0;
  std::atomic<bool> quit_ = false;
  std::thread thread_;
};

}  // namespace eventloom
