#pragma once

#include <cstddef>
#include <cstdint>

#include "io/udp/udp_socket.hpp"

namespace eventloom {

/// The address that a board sends from, and how much may be sent there. Requests go to no other address, and never
/// amount to more than half of the bytes received from it: a sender that forges its address cannot make a run flood a
/// third party.
class BoardPeer {
 public:
  /// Another address is accepted as the board's only if nothing has come from the present one for this long.
  static constexpr std::int64_t kSilence_ns = 1'000'000'000;

  /// Notes a valid datagram of the board's current session.
  void note(const UdpPeer& from, std::uint32_t session, std::size_t bytes, std::int64_t now_ns) {
    const bool moved = !(from == address_);
    if (moved && session == session_ && now_ns - heard_ns_ < kSilence_ns) return;
    if (moved) may_send_ = 0;
    address_ = from;
    session_ = session;
    heard_ns_ = now_ns;
    may_send_ += bytes / 2;
  }
  void note_sent(std::size_t bytes) { may_send_ -= bytes; }

  [[nodiscard]] const UdpPeer& address() const { return address_; }
  /// Bytes that may be sent there now.
  [[nodiscard]] std::size_t may_send() const { return may_send_; }

 private:
  UdpPeer address_;
  std::uint32_t session_ = 0;
  std::int64_t heard_ns_ = 0;
  std::size_t may_send_ = 0;
};

}  // namespace eventloom
