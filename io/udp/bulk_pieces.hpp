#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>

#include "formats/datagram_reply.hpp"
#include "io/udp/resend_requests.hpp"

namespace eventloom {

/// The pieces of a file that is transferred to a board: those that it lacks first, then new ones, no more than it has
/// room for. Times are in ns of any monotonic clock.
class BulkPieces {
 public:
  /// Most bytes in flight, unless the board states its own limit.
  static constexpr std::uint64_t kWindow = 65536;
  /// Upper limit on the board's statement: enough for 1 GB/s over a round trip of 1 ms.
  static constexpr std::uint64_t kMostWindow = 1U << 20;

  /// Returns memory for the next datagram, of this size.
  using Room = std::function<std::span<std::byte>(std::size_t bytes)>;

  /// `file`, which must not be empty, must outlive the object. `datagram_bytes`: length of the longest datagram.
  BulkPieces(std::span<const std::byte> file, std::size_t datagram_bytes, std::uint32_t session)
      : file_(file), datagram_bytes_(datagram_bytes), session_(session) {}

  /// Pieces that have been sent again are not repeated for at least this long.
  void wait_for(std::int64_t round_trip_ns);
  [[nodiscard]] std::int64_t again_ns() const { return again_ns_; }

  /// Whether a status that states what is missing before byte `known` was overtaken by another.
  [[nodiscard]] bool is_outdated(std::uint64_t known) const { return known < known_; }
  /// Follows a status of this transfer. `whole`: whatever the board lacks beyond its statement is not in flight.
  void follow(const Datagram& status, bool whole, std::int64_t now_ns);
  /// Sends at most `most_bytes`, by whole datagrams.
  void send(std::uint64_t most_bytes, const Room& room);

  /// Bytes of the file sent, repeated ones included.
  [[nodiscard]] std::uint64_t sent_bytes() const { return sent_bytes_; }
  /// Whether no new piece has been sent since the last call of note_offer().
  [[nodiscard]] bool none_since_offer() const { return none_since_offer_; }
  void note_offer() { none_since_offer_ = true; }

 private:
  [[nodiscard]] std::uint32_t block_bytes(std::uint64_t block) const;
  void send_again(std::uint64_t end, const Room& room);
  void send_new(std::uint64_t end, const Room& room);
  std::uint32_t put(std::uint64_t block, std::uint32_t begin, std::uint32_t end, const Room& room);

  std::span<const std::byte> file_;
  std::size_t datagram_bytes_;
  std::uint32_t session_;
  std::uint64_t window_ = kWindow;
  std::uint64_t known_ = 0;  ///< the board's statement of what is missing extends to here
  std::uint64_t next_ = 0;   ///< next byte that has not been sent
  std::deque<MissingPiece> again_;
  ResendRequests resends_{0};
  std::int64_t again_ns_ = ResendRequests::kAgain_ns;
  bool none_since_offer_ = false;
  std::uint64_t sent_bytes_ = 0;
};

/// The byte before which a status states what is missing.
inline std::uint64_t known_of(const Datagram& status) {
  return status.header.sequence * kBulkBlockBytes + status.header.offset;
}

}  // namespace eventloom
