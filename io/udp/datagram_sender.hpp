#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/datagram.hpp"
#include "formats/epoch_buffer.hpp"
#include "formats/stream_file.hpp"
#include "io/udp/resend_window.hpp"
#include "io/udp/udp_sender.hpp"

namespace eventloom {

/// Sends one stream of epoch buffers over UDP, in the framing of formats/datagram.hpp.
///
/// There are no acknowledgements: the receiver must detect losses. It may request lost datagrams from a window of the
/// last ones sent. Times are in ns of a steady clock and never
/// decrease. Not thread-safe. All functions throw UserError when the system cannot send to the address at all.
class DatagramSender {
 public:
  struct Settings {
    std::string address;                     ///< udp://HOST:PORT
    std::size_t datagram_bytes = 8192;       ///< largest whole datagram; kLeastDatagram to kMaxDatagramBytes
    std::optional<std::uint32_t> session;    ///< random if not given
    std::int64_t started_ns = 0;             ///< Unix time of tick 0; 0: unknown
    std::int64_t mark_after_ns = 1'000'000;  ///< idle time after which a mark is sent
    std::size_t resend_bytes = 0;            ///< capacity of the window; 0: requests are not taken
    bool may_be_refused = false;             ///< whether a missing receiver causes no warning
  };
  static constexpr std::size_t kLeastDatagram = 576;

  struct Count : UdpSender::Count {
    std::uint64_t buffers = 0;
    std::uint64_t hits = 0;
    std::uint64_t again = 0;  ///< datagrams sent again on request, also counted in `datagrams` and `bytes`
  };

  /// Sends as source `header.source`. Throws UserError for an invalid address.
  DatagramSender(const Settings& settings, const StreamHeader& header);

  /// Sends whole stored epoch buffers, back to back, in ascending epochs that do not precede those of the last call.
  /// The headers sent contain the sequence number, the source and the number of earlier hits. Data may be held until
  /// flush(); `buffers` may be freed after the call.
  void send(std::span<const std::byte> buffers, std::int64_t now);
  /// Call about as often as marks are wanted. Describes the stream once a second. After an idle time, sends a mark that
  /// no buffer that begins before `complete` will follow, unless an earlier mark stated it.
  void keep_up(Epoch complete, std::int64_t now);
  /// Ends the stream. Call it kEnds times, some time apart, as datagrams get lost in bursts.
  void end(Epoch complete, std::int64_t now);
  static constexpr int kEnds = 3;
  /// Sends again what has been requested since the last call.
  void answer(std::int64_t now);
  /// Whether a receiver may still request data after the end: until some time after the last request, within limits.
  [[nodiscard]] bool expects_requests(std::int64_t now) const;
  /// Sends all pending data.
  void flush() { out_.flush(); }

  [[nodiscard]] Count count() const { return {out_.count(), buffers_, hits_, again_}; }

 private:
  void announce(std::int64_t now);
  void send_buffer(const EpochBufferHeader& header, std::span<const std::byte> stored);
  void put_mark(DatagramKind kind, Epoch complete);
  std::span<const std::byte> put(DatagramHeader& header, std::span<const std::byte> contents);
  [[nodiscard]] bool resends() const { return resend_bytes_ != 0; }
  void resend(std::span<const std::byte> datagram);

  std::string address_;
  std::size_t datagram_bytes_;
  std::int64_t mark_after_ns_;
  std::uint32_t source_;
  std::uint32_t session_;
  std::vector<std::byte> first_stream_;  ///< contents of the first header datagrams
  std::vector<std::byte> stream_;        ///< contents of the later ones
  std::size_t resend_bytes_;
  ResendWindow window_;
  UdpSender out_;
  std::vector<std::byte> request_;  ///< room for a request
  std::vector<std::byte> buffer_;   ///< an epoch buffer as it is sent
  std::optional<std::int64_t> announced_;
  int announcements_ = 0;
  std::optional<std::int64_t> asked_;   ///< time of the last request
  std::optional<std::int64_t> ending_;  ///< time of the first end
  std::int64_t last_ = 0;               ///< time of the last send
  Epoch marked_ = 0;
  std::uint64_t marked_buffers_ = 0;
  std::uint64_t buffers_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t again_ = 0;
};

}  // namespace eventloom
