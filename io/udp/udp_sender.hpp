#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace eventloom {

/// Sends datagrams to one address, many per system call, without acknowledgements. Not thread-safe. All functions throw
/// UserError when the system cannot send to the address at all.
class UdpSender {
 public:
  struct Count {
    std::uint64_t datagrams = 0;
    std::uint64_t bytes = 0;    ///< total size of the datagrams
    std::uint64_t refused = 0;  ///< times the system reported that no receiver is listening
    std::uint64_t full = 0;     ///< times the sender waited because the system's buffer was full
  };

  /// `place`: see resolve_udp(). `most_bytes`: size of the largest datagram.
  UdpSender(const std::string& place, std::size_t most_bytes);
  ~UdpSender();
  UdpSender(const UdpSender&) = delete;
  UdpSender& operator=(const UdpSender&) = delete;

  /// Memory for the next datagram, of this size, which the caller fills in. It may not be sent before flush().
  std::span<std::byte> next(std::size_t bytes);
  /// Sends all pending datagrams.
  void flush();
  /// Missing receivers are no longer reported.
  void may_be_refused() { tells_refusal_ = false; }

  [[nodiscard]] const Count& count() const { return count_; }

 private:
  std::size_t send_some(std::size_t first);
  std::size_t take_error(int error);

  std::string place_;
  int socket_ = -1;
  std::vector<std::byte> batch_;
  std::vector<std::span<std::byte>> waiting_;  ///< datagrams in batch_
  std::size_t used_ = 0;                       ///< bytes used in batch_
  bool tells_refusal_ = true;
  Count count_;
};

}  // namespace eventloom
