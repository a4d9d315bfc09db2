#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace eventloom {

/// Address of a peer, as the system states it.
struct UdpPeer {
  sockaddr_storage address{};
  socklen_t length = 0;

  friend bool operator==(const UdpPeer& a, const UdpPeer& b) {
    return a.length == b.length && std::memcmp(&a.address, &b.address, a.length) == 0;
  }
};

/// HOST:PORT in figures, for messages.
std::string text_of(const UdpPeer& peer);
/// Bytes of the largest IP packet that reaches the peer in one piece. Throws UserError if there is no path.
std::size_t path_mtu(const UdpPeer& peer);

/// Extends a 32-bit counter of the system that wraps around.
class WrappingCount {
 public:
  void see(std::uint32_t now) {
    total_ += now - last_;
    last_ = now;
  }
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  std::uint32_t last_ = 0;
  std::uint64_t total_ = 0;
};

/// A socket that receives many datagrams per system call. Not thread-safe, except wake().
class UdpSocket {
 public:
  /// Requested buffer size: a third of a second at 200 MB/s. Linux also charges its overhead per datagram.
  static constexpr std::size_t kReceiveBytes = std::size_t{64} << 20;
  /// If the buffer is smaller, a receiver's pause of a few milliseconds loses data.
  static constexpr std::size_t kFewBytes = std::size_t{4} << 20;
  /// Most datagrams per receive().
  static constexpr std::size_t kBatch = 64;
  /// After this many full batches, all data that were in the socket before the first have been received: Linux charges
  /// at least 512 bytes per datagram, and the buffer is at most twice the requested size.
  static constexpr std::size_t kTurnover = 2 * kReceiveBytes / 512 / kBatch;

  /// Whether to warn when the system grants much less memory than requested.
  enum class SmallBuffer { warn, accept };

  /// Binds to `place`, see resolve_udp(). Throws UserError that states the failure and the fix.
  explicit UdpSocket(const std::string& place, std::size_t receive_bytes = kReceiveBytes,
                     SmallBuffer small = SmallBuffer::warn);
  ~UdpSocket();
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  /// Waits until a datagram arrives, wake() is called, or `timeout_ms` has passed; negative: no timeout.
  void wait(int timeout_ms);
  /// Ends the current wait(), or the next one.
  void wake() const;
  /// The datagrams that have arrived, at most kBatch. Never waits. The memory belongs to the socket and is valid until
  /// the next call.
  std::span<const std::span<const std::byte>> receive();
  /// The sender of datagram `index` of the last receive().
  [[nodiscard]] UdpPeer peer(std::size_t index) const;
  /// Sends a datagram without waiting. Returns whether the system took it.
  bool send_to(const UdpPeer& peer, std::span<const std::byte> datagram) const { return send_to(peer, datagram, {}); }
  /// Likewise, a datagram of two parts.
  bool send_to(const UdpPeer& peer, std::span<const std::byte> head, std::span<const std::byte> body) const;

  /// Datagrams dropped by the system, as reported with the last datagram received.
  [[nodiscard]] std::uint64_t kernel_drops() const { return drops_.total(); }
  /// Size of the receive buffer that the system granted.
  [[nodiscard]] std::size_t receive_bytes() const { return receive_bytes_; }
  /// The local port.
  [[nodiscard]] std::uint16_t port() const;

 private:
  /// Receive memory per datagram. Larger than any datagram, so that none is truncated.
  static constexpr std::size_t kSlot = 65536;
  struct Control {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(std::uint32_t))> bytes;
  };
  struct Closed {
    int value = -1;
    ~Closed();
  };

  void bind_to(const std::string& place, std::size_t receive_bytes);
  void size_buffer(std::size_t bytes);
  void warn_of_small_buffer(std::size_t bytes) const;
  void note_drops(msghdr& message);

  Closed socket_;
  Closed wakeup_;
  std::size_t receive_bytes_ = 0;
  WrappingCount drops_;
  std::unique_ptr<std::byte[]> arena_;
  std::vector<mmsghdr> messages_;
  std::vector<iovec> slots_;
  std::vector<Control> controls_;
  std::vector<sockaddr_storage> peers_;
  std::vector<std::span<const std::byte>> received_;
};

}  // namespace eventloom
