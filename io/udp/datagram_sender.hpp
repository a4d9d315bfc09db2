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

namespace eventloom {

/// The sending end of one stream of epoch buffers over UDP, in the framing of formats/datagram.hpp.
///
/// Nobody answers: what nobody receives is lost, and is the receiver's to notice. Times are those of a steady
/// clock, ns, and never fall. One thread calls. All functions throw UserError when the system cannot send to
/// the address at all.
class DatagramSender {
 public:
  struct Settings {
    std::string address;                     ///< udp://HOST:PORT
    std::size_t datagram_bytes = 8192;       ///< a whole datagram, at most; kLeastDatagram to kMaxDatagramBytes
    std::optional<std::uint32_t> session;    ///< drawn at random when not given
    std::int64_t started_ns = 0;             ///< Unix time of tick 0; 0: not known
    std::int64_t mark_after_ns = 1'000'000;  ///< a mark follows when nothing was sent for so long
  };
  static constexpr std::size_t kLeastDatagram = 576;

  struct Count {
    std::uint64_t datagrams = 0;
    std::uint64_t bytes = 0;  ///< of datagrams
    std::uint64_t buffers = 0;
    std::uint64_t hits = 0;
    std::uint64_t refused = 0;  ///< times the system said that nobody listens
    std::uint64_t full = 0;     ///< times the system had no room and was waited for
  };

  /// Sends as source `header.source`. Throws UserError for an address that is none.
  DatagramSender(const Settings& settings, const StreamHeader& header);
  ~DatagramSender();
  DatagramSender(const DatagramSender&) = delete;
  DatagramSender& operator=(const DatagramSender&) = delete;

  /// Whole stored epoch buffers, behind one another, in rising epochs: not before those of the last call. Their headers
  /// get the number, the source and the hits before them that they have in this stream. What is sent may wait here for
  /// flush(); nothing of `buffers` is needed after the call.
  void send(std::span<const std::byte> buffers, std::int64_t now);
  /// To be called about as often as marks are wanted: tells of the stream when that was a second ago, and that
  /// no buffer that begins before `complete` will follow, when nothing was sent for a while and this is news.
  void keep_up(Epoch complete, std::int64_t now);
  /// The stream is over. To be called kEnds times, some time apart, as datagrams get lost together.
  void end(Epoch complete, std::int64_t now);
  static constexpr int kEnds = 3;
  /// Nothing waits any longer.
  void flush();

  [[nodiscard]] const Count& count() const { return count_; }

 private:
  void announce(std::int64_t now);
  void send_buffer(const EpochBufferHeader& header, std::span<const std::byte> stored);
  void put_mark(DatagramKind kind, Epoch complete);
  void put(DatagramHeader header, std::span<const std::byte> contents);
  std::size_t send_some(std::size_t first);
  std::size_t take_error(int error);

  std::string address_;
  std::size_t datagram_bytes_;
  std::int64_t mark_after_ns_;
  std::uint32_t source_;
  std::uint32_t session_;
  std::vector<std::byte> stream_;  ///< contents of a header datagram
  int socket_ = -1;
  std::vector<std::byte> batch_;
  std::vector<std::span<std::byte>> waiting_;  ///< datagrams in batch_
  std::size_t batch_used_ = 0;
  std::vector<std::byte> buffer_;  ///< an epoch buffer as it is sent
  std::optional<std::int64_t> announced_;
  std::int64_t last_ = 0;  ///< when something was sent
  Epoch marked_ = 0;
  std::uint64_t marked_buffers_ = 0;
  bool ending_ = false;
  Count count_;
};

}  // namespace eventloom
