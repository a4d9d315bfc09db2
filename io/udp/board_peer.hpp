#pragma once

#include <cstddef>
#include <cstdint>

#include "io/udp/udp_socket.hpp"

namespace eventloom {

/// The address that a board sends from, and how much may be sent there. Nothing else is believed to be the board's, and
/// requests go nowhere else; they never amount to more than half of the bytes received from it: a sender that forges
/// its address cannot make a run flood a third party.
class BoardPeer {
 public:
  /// Another address is accepted as the board's only if nothing has come from the present one for this long.
  static constexpr std::int64_t kSilence_ns = 1'000'000'000;

  /// Whether the board is known to send from another address.
  [[nodiscard]] bool is_other(const UdpPeer& from) const { return address_.length != 0 && !(from == address_); }
  /// Whether nothing has come for so long that another address may be the board's. Call only after taking all datagrams
  /// that have arrived.
  [[nodiscard]] bool is_silent(std::int64_t now_ns) const { return now_ns - heard_ns_ >= kSilence_ns; }

  /// Notes a datagram of the board.
  void note(const UdpPeer& from, std::size_t bytes, std::int64_t now_ns) {
    if (is_other(from)) may_send_ = 0;
    address_ = from;
    heard_ns_ = now_ns;
    may_send_ += bytes / 2;
  }
  void note_sent(std::size_t bytes) { may_send_ -= bytes; }

  [[nodiscard]] const UdpPeer& address() const { return address_; }
  /// Bytes that may be sent there now.
  [[nodiscard]] std::size_t may_send() const { return may_send_; }

 private:
  UdpPeer address_;
  std::int64_t heard_ns_ = 0;
  std::size_t may_send_ = 0;
};

}  // namespace eventloom
