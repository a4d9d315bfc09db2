#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "io/mbs/mbs_address.hpp"

struct addrinfo;

namespace eventloom {

/// Permanently ends the waits of one thread; may be triggered by any thread.
class MbsStop {
 public:
  /// Throws UserError when no more file descriptors are available.
  MbsStop();
  ~MbsStop();
  MbsStop(const MbsStop&) = delete;
  MbsStop& operator=(const MbsStop&) = delete;

  void stop();
  [[nodiscard]] bool stopped() const { return stopped_; }
  /// Waits until `socket` (-1: none) is ready for the poll(2) `events`, stop() is called, or `most` has passed. Returns
  /// true in the first case.
  bool wait(int socket, short events, std::chrono::milliseconds most) const;

 private:
  int event_;
  std::atomic<bool> stopped_{false};
};

/// The addresses of a host, resolved once.
class MbsHost {
 public:
  /// Throws UserError when the host has no address.
  explicit MbsHost(const MbsAddress& address);
  [[nodiscard]] const addrinfo* addresses() const { return found_.get(); }

 private:
  std::unique_ptr<addrinfo, void (*)(addrinfo*)> found_;
};

/// A TCP connection. The kernel detects silently vanished peers within half a minute.
class MbsSocket {
 public:
  /// Tries the addresses in turn. If none answers, or on a stop, returns null and sets `why` to the reason.
  static std::unique_ptr<MbsSocket> connect(const MbsHost& host, const MbsStop& stop, std::string& why);
  ~MbsSocket();
  MbsSocket(const MbsSocket&) = delete;
  MbsSocket& operator=(const MbsSocket&) = delete;

  enum class Got : std::uint8_t {
    bytes,
    nothing,  ///< no data within the time limit
    closed,   ///< closed by the peer in an orderly way
    broken,   ///< see failure()
    stopped,
  };
  /// Waits at most `most` for bytes and puts `n` of them into `room`. After a stop, returns only bytes that arrived
  /// before it.
  Got receive(std::span<std::byte> room, std::size_t& n, std::chrono::milliseconds most);
  /// Sends a few bytes. A failure is not reported; receive() will show it.
  void send(std::span<const std::byte> bytes);
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  MbsSocket(int socket, const MbsStop& stop) : socket_(socket), stop_(stop) {}
  [[nodiscard]] std::size_t left();

  int socket_;
  const MbsStop& stop_;
  std::optional<std::size_t> left_;  ///< bytes that had arrived by the stop and are not yet returned
  std::string failure_;
};

}  // namespace eventloom
