#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace eventloom {

/// The treatment of a datagram for which the system has no room.
enum class WhenFull : std::uint8_t {
  wait,  ///< the sender waits
  drop,  ///< it is dropped and counted; nothing that the system reports ends the sender
};

/// Sends datagrams to one address, many per system call, and receives the replies from that address only. Not
/// thread-safe. All functions throw UserError when the system cannot send to the address at all.
class UdpSender {
 public:
  struct Count {
    std::uint64_t datagrams = 0;
    std::uint64_t bytes = 0;    ///< total size of the datagrams
    std::uint64_t refused = 0;  ///< times the system reported that no receiver is listening
    std::uint64_t full = 0;     ///< times the system's buffer was full
    std::uint64_t dropped = 0;  ///< datagrams that were dropped as it was full, included above
    std::uint64_t dropped_bytes = 0;
  };

  /// `place`: see resolve_udp(). `most_bytes`: size of the largest datagram.
  UdpSender(const std::string& place, std::size_t most_bytes, WhenFull when_full = WhenFull::wait);
  /// Sends over a connected socket, which it then owns. `name`: for messages.
  UdpSender(int socket, std::string name, std::size_t most_bytes, WhenFull when_full);
  ~UdpSender();
  UdpSender(const UdpSender&) = delete;
  UdpSender& operator=(const UdpSender&) = delete;

  /// Memory for the next datagram, of this size, which the caller fills in. It may not be sent before flush().
  std::span<std::byte> next(std::size_t bytes);
  /// Sends all pending datagrams.
  void flush();
  /// The next datagram that the receiver has sent back, at most `room` long; empty if there is none. Never waits.
  std::span<const std::byte> receive(std::span<std::byte> room);
  /// Waits until a datagram has come back or `timeout_ms` has passed.
  void wait(int timeout_ms) const;
  /// Missing receivers are no longer reported.
  void may_be_refused() { reports_refusal_ = false; }

  [[nodiscard]] const Count& count() const { return count_; }
  /// Rate of the network device that the datagrams leave by, bytes per second; 0: unknown.
  [[nodiscard]] std::uint64_t link_rate() const;

 private:
  std::size_t send_some(std::size_t first);
  std::size_t take_error(int error, std::size_t left);
  void report_refusal(int error);

  std::string place_;
  int socket_ = -1;
  WhenFull when_full_;
  std::vector<std::byte> batch_;
  std::vector<std::span<std::byte>> waiting_;  ///< datagrams in batch_
  std::size_t used_ = 0;                       ///< bytes used in batch_
  bool reports_refusal_ = true;
  Count count_;
};

}  // namespace eventloom
