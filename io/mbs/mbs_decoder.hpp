#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/lmd/lmd_buffer_events.hpp"

namespace eventloom {

/// What an MBS server says first: four 32-bit words in its byte order. The largest buffer that is believed has 64 MiB.
///
///   0 i32 1, the byte-order mark         4 i32 bytes of a buffer, header included: of each, or at most
///   8 i32 buffers of a stream           12 i32 streams; 0: buffers are as long as what is in them (DABC)
///
/// DABC's legacy mode sends buffers of the native size whose header, of type 100/1, tells the length of what is in
/// them.
struct MbsHandshake {
  static constexpr std::size_t kBytes = 16;

  bool swapped = false;  ///< the server's byte order is the other
  std::uint32_t max_bytes = 0;
  std::uint32_t buffers_per_stream = 0;
  bool variable = false;  ///< buffers are as long as what is in them

  /// Buffers with which a stream server answers a request, empty ones included.
  [[nodiscard]] std::uint32_t buffers_per_reply() const { return variable ? 1 : buffers_per_stream; }
};

/// Finds the handshake and the buffers in the bytes of one connection to an MBS server, however they are cut. Knows
/// no sockets. Memory follows the bytes that have come, never a length that is only said.
class MbsDecoder {
 public:
  /// `offset`: of the first byte behind the handshake in the stream, all connections together.
  explicit MbsDecoder(std::uint64_t offset) : base_(offset) {}

  /// Where bytes that come next are to be put; not empty. Ends the life of buffer().
  std::span<std::byte> room();
  /// So many bytes have been put there.
  void took(std::size_t n) { end_ += n; }

  enum class Found : std::uint8_t {
    nothing,     ///< more bytes must come
    handshake,   ///< see handshake()
    buffer,      ///< see buffer(); may have a defect
    empty,       ///< a buffer without events, the header of which is in buffer(): the server is there
    disconnect,  ///< a buffer that says that the server ends
    garbage,     ///< see complaint(): nothing that follows can be understood
  };
  /// What comes next. Ends the life of buffer().
  Found next();
  /// The connection has ended: what there is of a buffer, which is less than its length, is buffer(); false when
  /// that is less than a header.
  bool cut();

  [[nodiscard]] const MbsHandshake& handshake() const { return handshake_; }
  [[nodiscard]] const LmdBuffer& buffer() const { return buffer_; }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }
  /// Bytes that have come and belong to nothing that was found.
  [[nodiscard]] std::size_t unread() const { return end_ - begin_; }
  /// Of what comes next, in the stream.
  [[nodiscard]] std::uint64_t offset() const { return base_; }
  /// Whether the handshake has come.
  [[nodiscard]] bool greeted() const { return greeted_; }

 private:
  [[nodiscard]] std::span<const std::byte> front() const { return std::span(memory_).subspan(begin_, unread()); }
  Found read_handshake();
  Found read_buffer();
  bool read_header();
  void set_bytes(std::size_t n);
  Found give_up(std::string why);

  std::uint64_t base_;
  bool greeted_ = false;
  bool garbage_ = false;
  MbsHandshake handshake_;
  std::vector<std::byte> memory_;
  std::size_t begin_ = 0;  ///< of what is unread in memory_
  std::size_t end_ = 0;
  LmdBuffer buffer_;
  std::vector<std::byte> swapped_;  ///< the buffer, when its byte order is the other
  bool buffer_swapped_ = false;
  std::string complaint_;
};

}  // namespace eventloom
