#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "formats/datagram_reply.hpp"
#include "io/udp/resend_requests.hpp"

namespace eventloom {

/// The host's side of the transfer of a file to a board (formats/datagram_reply.hpp). Independent of sockets and
/// clocks: times are in ns of any monotonic clock.
class BulkTransfer {
 public:
  /// Most bytes in flight, unless the board states its own limit.
  static constexpr std::uint64_t kWindow = 65536;
  /// Upper limit on the board's statement: enough for 1 GB/s over a round trip of 1 ms.
  static constexpr std::uint64_t kMostWindow = 1U << 20;
  /// Time without an answer after which the board is silent, and without progress after which it is stalled: a board
  /// may erase and check its memory meanwhile.
  static constexpr std::int64_t kSilence_ns = 5'000'000'000;
  static constexpr std::int64_t kStall_ns = 60'000'000'000;
  /// Times between two offers without an answer: the first, doubled up to the last.
  static constexpr std::int64_t kFirstPoll_ns = 20'000'000;
  static constexpr std::int64_t kLastPoll_ns = 500'000'000;
  /// No more bytes of pieces are sent than this many times the file, and kFreeBytes.
  static constexpr std::uint64_t kMostTimes = 4;
  static constexpr std::uint64_t kFreeBytes = 16U << 20;

  enum class State : std::uint8_t { opening, sending, complete, wrong_checksum, refused, silent, stalled };
  /// Returns memory for the next datagram, of this size.
  using Room = std::function<std::span<std::byte>(std::size_t bytes)>;

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
  [[nodiscard]] std::uint64_t sent_bytes() const { return sent_bytes_; }
  /// Why the board refuses, as it says: untrusted.
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  [[nodiscard]] bool is_status_of_this(const Datagram& datagram) const;
  [[nodiscard]] std::uint32_t block_bytes(std::uint64_t block) const;
  void begin(const Datagram& datagram, std::int64_t now_ns);
  void follow(const Datagram& datagram, std::int64_t now_ns);
  void end(const Datagram& datagram);
  void note_time(std::int64_t now_ns);
  void offer(std::int64_t now_ns, const Room& room);
  void send_again(std::uint64_t end, const Room& room);
  void send_new(std::uint64_t end, const Room& room);
  std::uint32_t put(std::uint64_t block, std::uint32_t begin, std::uint32_t end, const Room& room);

  std::span<const std::byte> file_;
  Settings settings_;
  State state_ = State::opening;
  std::optional<std::uint32_t> board_;
  std::uint64_t window_ = kWindow;
  std::uint64_t known_ = 0;  ///< the board's statement of what is missing extends to here
  std::uint64_t next_ = 0;   ///< next byte that has not been sent
  std::deque<MissingPiece> again_;
  ResendRequests resends_{0};
  std::int64_t again_ns_ = ResendRequests::kAgain_ns;
  std::int64_t heard_ns_;
  std::int64_t progress_ns_;
  std::optional<std::int64_t> offered_ns_;
  std::uint32_t offers_ = 0;
  bool offered_last_ = false;  ///< no new piece has been sent since the last offer
  std::int64_t poll_ns_ = kFirstPoll_ns;
  std::uint64_t received_ = 0;
  std::uint64_t had_before_ = 0;
  std::uint64_t sent_bytes_ = 0;
  std::string reason_;
};

}  // namespace eventloom
