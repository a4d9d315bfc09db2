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

/// Ends the waits of one thread for good, from any thread.
class MbsStop {
 public:
  /// Throws UserError when the system has no more descriptors.
  MbsStop();
  ~MbsStop();
  MbsStop(const MbsStop&) = delete;
  MbsStop& operator=(const MbsStop&) = delete;

  void stop();
  [[nodiscard]] bool stopped() const { return stopped_; }
  /// Waits until `socket` is ready for `events` of poll(2) (-1: no socket), it is stopped, or the time is over. True in
  /// the first case.
  bool wait(int socket, short events, std::chrono::milliseconds most) const;

 private:
  int event_;
  std::atomic<bool> stopped_{false};
};

/// The addresses of a host, resolved once.
class MbsHost {
 public:
  /// Throws UserError when there is none.
  explicit MbsHost(const MbsAddress& address);
  [[nodiscard]] const addrinfo* addresses() const { return found_.get(); }

 private:
  std::unique_ptr<addrinfo, void (*)(addrinfo*)> found_;
};

/// A TCP connection. The kernel detects peers that vanish silently, within half a minute.
class MbsSocket {
 public:
  /// Tries the addresses in turn. None, and `why`, when none answers or it is stopped.
  static std::unique_ptr<MbsSocket> connect(const MbsHost& host, const MbsStop& stop, std::string& why);
  ~MbsSocket();
  MbsSocket(const MbsSocket&) = delete;
  MbsSocket& operator=(const MbsSocket&) = delete;

  enum class Got : std::uint8_t {
    bytes,
    nothing,  ///< within the time
    closed,   ///< by the peer, in an orderly way
    broken,   ///< see failure()
    stopped,
  };
  /// Waits at most this long for bytes and puts `n` of them into `room`. After a stop: returns the bytes received until
  /// then, and nothing later.
  Got receive(std::span<std::byte> room, std::size_t& n, std::chrono::milliseconds most);
  /// A few bytes. A failure shows when nothing more is received.
  void send(std::span<const std::byte> bytes);
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  MbsSocket(int socket, const MbsStop& stop) : socket_(socket), stop_(stop) {}
  [[nodiscard]] std::size_t left();

  int socket_;
  const MbsStop& stop_;
  std::optional<std::size_t> left_;  ///< bytes received by the stop and not yet returned
  std::string failure_;
};

}  // namespace eventloom
