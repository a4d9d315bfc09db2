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
  std::vector<std::uint32_t> sources;  ///< ids of the boards; empty: one, the first heard
  PayloadTable payload;                ///< until a board has sent its own
  std::size_t buffer_bytes = 0;        ///< of each board's queue
  std::size_t receive_bytes = UdpSocket::kReceiveBytes;

  /// Throws UserError for other forms.
  static UdpPortSettings of(const SourceUri& uri, const LiveInputSettings& live);
};

/// A port that one or more boards send to, and the thread that receives for all of them.
///
/// When the queue of a port's only board is full the thread waits: the system then drops what it has no room for, which
/// is counted. With several boards it does not wait, as the run may be waiting for another of them: the data of the
/// board with the full queue are then dropped, as congested.
class UdpPort {
 public:
  /// Binds and receives from now on. `base`: the run's. Throws UserError.
  UdpPort(const UdpPortSettings& settings, const TimeBase& base);
  /// Ends the thread, even while it waits.
  ~UdpPort();
  UdpPort(const UdpPort&) = delete;
  UdpPort& operator=(const UdpPort&) = delete;

  /// Any thread.
  [[nodiscard]] std::size_t n_boards() const { return boards_.size(); }
  [[nodiscard]] UdpBoard& board(std::size_t index) { return *boards_.at(index); }
  /// The thread takes what has arrived and ends this board; when all have ended it exits.
  void stop_board(std::size_t index);
  /// Of the port, not of a board.
  [[nodiscard]] Counters counters() const;
  /// Boards that the user did not name, where none is named, and what must be said of them.
  [[nodiscard]] std::uint64_t other_boards() const { return others_.boards(); }
  [[nodiscard]] std::vector<std::string> remarks() const;
  [[nodiscard]] std::uint16_t number() const { return socket_.port(); }

 private:
  void run();
  void receive_all();
  bool receive_batch();
  void dispatch(std::span<const std::byte> bytes, std::int64_t now_ns);
  UdpBoard* board_of(std::uint32_t source);
  void note_malformed();
  void note_foreign(const Datagram& datagram);
  void finish(UdpBoard& board);
  void pass_time();
  void hand_over();
  [[nodiscard]] bool all_ended() const;

  UdpSocket socket_;
  std::vector<std::unique_ptr<UdpBoard>> boards_;
  const std::string place_;               ///< for messages
  const bool named_;                      ///< the user names the boards
  std::vector<std::uint32_t> sources_;    ///< of the boards; empty: not known yet
  OtherBoards others_;                    ///< where the user names none
  std::atomic<std::uint32_t> first_ = 0;  ///< likewise: the board heard first
  std::size_t full_batches_ = 0;          ///< since the socket was last empty
  std::atomic<std::uint64_t> kernel_drops_ = 0;
  std::atomic<std::uint64_t> malformed_ = 0;
  std::atomic<std::uint64_t> foreign_ = 0;
  std::atomic<bool> quit_ = false;
  std::thread thread_;
};

}  // namespace eventloom
