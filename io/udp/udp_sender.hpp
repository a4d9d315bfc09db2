#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace eventloom {

/// Sends datagrams to one address, many per system call, without acknowledgements. One thread calls. All functions
/// throw UserError when the system cannot send to the address at all.
class UdpSender {
 public:
  struct Count {
    std::uint64_t datagrams = 0;
    std::uint64_t bytes = 0;    ///< of datagrams
    std::uint64_t refused = 0;  ///< times the system reported that nobody listens
    std::uint64_t full = 0;     ///< times the system's buffer was full and was waited for
  };

  /// `place`: see resolve_udp(). `most_bytes`: of a datagram.
  UdpSender(const std::string& place, std::size_t most_bytes);
  ~UdpSender();
  UdpSender(const UdpSender&) = delete;
  UdpSender& operator=(const UdpSender&) = delete;

  /// Where the caller writes the next datagram, of so many bytes. It may wait for flush().
  std::span<std::byte> next(std::size_t bytes);
  /// Sends everything that waits.
  void flush();
  /// From now on nobody need listen.
  void may_be_refused() { tells_refusal_ = false; }

  [[nodiscard]] const Count& count() const { return count_; }

 private:
  std::size_t send_some(std::size_t first);
  std::size_t take_error(int error);

  std::string place_;
  int socket_ = -1;
  std::vector<std::byte> batch_;
  std::vector<std::span<std::byte>> waiting_;  ///< datagrams in batch_
  std::size_t used_ = 0;                       ///< of batch_
  bool tells_refusal_ = true;
  Count count_;
};

}  // namespace eventloom
