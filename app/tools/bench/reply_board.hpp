#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <thread>

#include "app/document/latency_histogram.hpp"
#include "formats/geometry.hpp"
#include "io/files/descriptor.hpp"
#include "io/udp/datagram_sender.hpp"

namespace eventloom {

/// Sends each datagram back to its sender, on its own thread.
class UdpEcho {
 public:
  UdpEcho();
  ~UdpEcho();
  UdpEcho(const UdpEcho&) = delete;
  UdpEcho& operator=(const UdpEcho&) = delete;
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  Descriptor socket_;
  std::uint16_t port_;
  std::thread thread_;
};

struct ReplyBoardSettings {
  std::string to;              ///< udp://HOST:PORT of the run
  SliceGeometry geometry;      ///< geometry of the run, in ticks of 1 ns
  std::uint32_t hits = 4;      ///< per event
  std::int64_t period_ns = 0;  ///< time between two events
  std::int64_t mark_ns = 0;    ///< idle time after which a mark is sent
};

/// The results of a board, by its own clock.
struct ReplyTimes {
  LatencyHistogram loop;      ///< time from an event's hits to its reply
  LatencyHistogram complete;  ///< time from the datagram that completes the slice to the reply
  LatencyHistogram echo;      ///< round trip of a datagram to an echo and back
  std::uint64_t events = 0;
  std::uint64_t lost = 0;  ///< events without a reply
};

/// A board that sends events to a run at a set pace, each at once and alone, and receives the run's replies. Half-way
/// between two events it sends a datagram of the size of a reply to an echo. All on one thread.
class ReplyBoard {
 public:
  ReplyBoard(const ReplyBoardSettings& settings, std::uint16_t echo);

  /// The port where it receives replies, on 127.0.0.1.
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Sends events until the run has replied to one. Returns false if that takes longer than `most_ns`.
  [[nodiscard]] bool begin(std::int64_t most_ns);
  /// Sends `n` events and waits `patience_ns` at most for the last replies.
  ReplyTimes measure(std::uint64_t n, std::int64_t patience_ns);
  /// Ends the data.
  void end();

 private:
  static constexpr std::int64_t kNoEcho = -1;

  struct Sent {
    std::uint64_t tick = 0;                ///< time of the first hit
    std::int64_t at = 0;                   ///< when the hits were sent
    std::optional<std::int64_t> complete;  ///< when the slice was complete
  };

  [[nodiscard]] std::int64_t now() const;
  [[nodiscard]] Epoch epoch_at(std::int64_t ns) const;
  void turn();
  void send_event(std::int64_t at);
  void send_echo();
  void note_complete(std::int64_t at);
  void take_replies();
  void take_echoes();
  void wait() const;

  ReplyBoardSettings settings_;
  std::int64_t start_;
  Descriptor replies_;
  Descriptor echoes_;
  std::uint16_t port_;
  DatagramSender sender_;
  std::deque<Sent> waiting_;  ///< events without a reply, in their order
  std::int64_t next_event_ = 0;
  std::int64_t next_echo_ = 0;
  std::int64_t echo_at_ = kNoEcho;  ///< when the echo now in flight was sent; the datagram holds it, too
  bool paused_ = false;             ///< no further events are sent
  ReplyTimes times_;
};

}  // namespace eventloom
