#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "formats/datagram_reply.hpp"
#include "io/udp/bulk_offers.hpp"
#include "io/udp/bulk_pieces.hpp"

namespace eventloom {

/// The host's side of the transfer of a file to a board (formats/datagram_reply.hpp). Independent of sockets and
/// clocks: times are in ns of any monotonic clock.
class BulkTransfer {
 public:
  /// Time without an answer after which the board is silent, and without progress after which it is stalled: a board
  /// may erase and check its memory meanwhile.
  static constexpr std::int64_t kSilence_ns = 5'000'000'000;
  static constexpr std::int64_t kStall_ns = 60'000'000'000;
  /// No more bytes of pieces are sent than this many times the file, and kFreeBytes.
  static constexpr std::uint64_t kMostTimes = 4;
  static constexpr std::uint64_t kFreeBytes = 16U << 20;

  enum class State : std::uint8_t { opening, sending, complete, wrong_checksum, refused, silent, stalled };
  using Room = BulkPieces::Room;

  struct Settings {
    std::uint32_t crc = 0;              ///< CRC32C of the file
    std::size_t datagram_bytes = 1472;  ///< length of the longest datagram
    std::uint32_t session = 0;          ///< distinguishes this transfer from others
  };
  /// `file`, which must not be empty, must outlive the object.
  BulkTransfer(std::span<const std::byte> file, const Settings& settings, std::int64_t now_ns);

  /// Takes a datagram from the board's address; ignores those that are not a status of this transfer or contradict it.
  void take(const Datagram& datagram, std::int64_t now_ns);
  /// Composes what is to be sent now, at most `most_bytes` of pieces.
  void send(std::int64_t now_ns, std::uint64_t most_bytes, const Room& room);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool is_over() const { return state_ != State::opening && state_ != State::sending; }
  /// The board that answered; std::nullopt before.
  [[nodiscard]] std::optional<std::uint32_t> board() const { return board_; }
  /// Bytes that the board has, and how many of them it had at the beginning.
  [[nodiscard]] std::uint64_t received() const { return received_; }
  [[nodiscard]] std::uint64_t had_before() const { return had_before_; }
  /// Bytes of the file sent, repeated ones included.
  [[nodiscard]] std::uint64_t sent_bytes() const { return pieces_.sent_bytes(); }
  /// Why the board refuses, as it says: untrusted.
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  [[nodiscard]] bool is_status_of_this(const Datagram& datagram) const;
  void begin(const Datagram& datagram, std::int64_t now_ns);
  void follow(const Datagram& datagram, std::int64_t now_ns);
  void end(const Datagram& datagram);
  void note_time(std::int64_t now_ns);
  void offer(std::int64_t now_ns, const Room& room);

  std::uint64_t file_bytes_;
  Settings settings_;
  BulkPieces pieces_;
  BulkOffers offers_;
  State state_ = State::opening;
  std::optional<std::uint32_t> board_;
  std::int64_t heard_ns_;
  std::int64_t progress_ns_;
  std::uint64_t received_ = 0;
  std::uint64_t had_before_ = 0;
  std::string reason_;
};

}  // namespace eventloom
