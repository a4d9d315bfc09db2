#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>

#include "app/tools/bench/peer_link.hpp"

/// Messages in datagrams, one direction of one connection: cut to the size of datagrams, with flow control, without
/// retransmission. A receiver confirms its progress, whether or not everything has arrived; a sender keeps no more in
/// flight than its window. Missing datagrams count as lost, as does one that a later one overtakes.
namespace eventloom {

enum class UdpKind : std::uint32_t {
  data,
  mark,   ///< the sender's progress, sent to request a confirmation if none arrives
  end,    ///< likewise, and no further one follows
  taken,  ///< the receiver's progress
};

/// At the beginning of each datagram.
struct UdpHeader {
  std::uint64_t session = 0;  ///< the same for all ranks of a measurement, so that strangers are ignored
  std::uint32_t from = 0;     ///< rank
  UdpKind kind = UdpKind::data;
  std::uint64_t datagram = 0;  ///< data: its number; otherwise: of datagrams sent or taken
  std::uint64_t message = 0;   ///< data: its number; otherwise: of messages sent or taken
  std::uint32_t offset = 0;    ///< data: of its bytes in the message
  std::uint32_t bytes = 0;     ///< data: of the whole message; taken: 1 after the end
};

/// Sends a datagram; returns false if the system has no room now.
using SendDatagram = std::function<bool(const UdpHeader& header, std::span<const std::byte> body)>;

class UdpSending {
 public:
  struct Limits {
    std::uint32_t queue = 1;   ///< messages on the way
    std::uint64_t window = 1;  ///< datagrams on the way
    std::size_t body = 1;      ///< bytes of a message in a datagram
  };
  UdpSending(const Limits& limits, SendDatagram send);

  /// Starts a message; false: too many are on the way. The bytes must stay valid until they are confirmed.
  bool start(std::span<const std::byte> message);
  /// Ends the stream; false: retry.
  bool end();
  /// Sends what the window allows, and asks for a confirmation that is overdue. Returns whether anything was sent.
  /// Throws UserError after half a minute without one.
  bool work(std::int64_t now_ns);
  void confirmed(const UdpHeader& taken, std::int64_t now_ns);

 private:
  bool send_next();
  void ask();
  /// Whether a confirmation is due. A message may stay unconfirmed after its last datagram if an earlier one was lost.
  [[nodiscard]] bool waits() const {
    return taken_datagrams_ != datagrams_ || taken_messages_ < messages_ || (ended_ && !end_taken_);
  }

  Limits limits_;
  SendDatagram send_;
  std::deque<std::span<const std::byte>> waiting_;  ///< messages not yet completely sent
  std::uint32_t offset_ = 0;                        ///< sent of the first of them
  std::uint64_t started_ = 0;
  std::uint64_t messages_ = 0;   ///< completely sent
  std::uint64_t datagrams_ = 0;  ///< sent
  std::uint64_t taken_messages_ = 0;
  std::uint64_t taken_datagrams_ = 0;
  bool ended_ = false;
  bool end_taken_ = false;
  bool sent_now_ = false;      ///< since the last work()
  std::int64_t quiet_at_ = 0;  ///< time of the last datagram in either direction
  std::int64_t heard_at_ = 0;  ///< time of the last confirmation
};

class UdpReceiving {
 public:
  /// `sender`: its index, for the PeerReceiver. `largest`: bytes of the largest message.
  UdpReceiving(std::size_t sender, std::size_t largest, const UdpSending::Limits& limits, SendDatagram send);

  void take(const UdpHeader& header, std::span<const std::byte> body, PeerReceiver& receiver);
  /// Confirms data taken, if they are many, if requested, or if no other work is left.
  void confirm(bool idle);
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  void take_data(const UdpHeader& header, std::span<const std::byte> body, PeerReceiver& receiver);
  void skip_to(std::uint64_t message, PeerReceiver& receiver);

  std::size_t sender_;
  UdpSending::Limits limits_;
  SendDatagram send_;
  std::vector<std::byte> message_;  ///< the message being assembled from several datagrams
  std::uint64_t datagrams_ = 0;     ///< taken or lost
  std::uint64_t messages_ = 0;      ///< taken or lost: the number of the next
  std::uint32_t assembled_ = 0;     ///< bytes of the next message
  std::uint64_t confirmed_datagrams_ = 0;
  std::uint64_t confirmed_messages_ = 0;
  bool asked_ = false;
  bool ended_ = false;
};

}  // namespace eventloom
