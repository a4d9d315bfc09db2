#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/lmd/lmd_buffer_events.hpp"

namespace eventloom {

/// The handshake of an MBS server: four 32-bit words in its byte order. Buffers of up to 64 MiB are accepted.
///
///   0 i32 1, the byte-order mark         4 i32 bytes of a buffer, header included: of each, or at most
///   8 i32 buffers of a stream           12 i32 streams; 0: buffers are as long as their contents (DABC)
///
/// DABC's legacy mode sends buffers of the native size whose header, of type 100/1, states the length of the contents.
struct MbsHandshake {
  static constexpr std::size_t kBytes = 16;

  bool swapped = false;  ///< the server has the other byte order
  std::uint32_t max_bytes = 0;
  std::uint32_t buffers_per_stream = 0;
  bool variable = false;  ///< buffers are as long as their contents

  /// Buffers in a stream server's reply to a request, empty ones included.
  [[nodiscard]] std::uint32_t buffers_per_reply() const { return variable ? 1 : buffers_per_stream; }
};

/// Finds the handshake and the buffers in the bytes of one connection to an MBS server, in whatever pieces they come.
/// Independent of sockets. Memory follows the bytes received, never an announced length.
class MbsDecoder {
 public:
  /// `offset`: of the first byte after the handshake in the stream, over all connections.
  explicit MbsDecoder(std::uint64_t offset) : base_(offset) {}

  /// Where the next bytes are to be put; not empty. Invalidates buffer().
  std::span<std::byte> room();
  /// This many bytes have been put there.
  void took(std::size_t n) { end_ += n; }

  enum class Found : std::uint8_t {
    nothing,     ///< more bytes are needed
    handshake,   ///< see handshake()
    buffer,      ///< see buffer(); may have a defect
    empty,       ///< a buffer without events, whose header is in buffer(): a sign of life
    disconnect,  ///< a buffer that announces the server's end
    garbage,     ///< see complaint(): nothing that follows is intelligible
  };
  /// The next item. Invalidates buffer().
  Found next();
  /// The connection has ended: the incomplete buffer, shorter than its length, is buffer(); false when not even a
  /// header has come.
  bool cut();

  [[nodiscard]] const MbsHandshake& handshake() const { return handshake_; }
  [[nodiscard]] const LmdBuffer& buffer() const { return buffer_; }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }
  /// Bytes received that belong to no item.
  [[nodiscard]] std::size_t unread() const { return end_ - begin_; }
  /// Offset of the next item in the stream.
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
  std::size_t begin_ = 0;  ///< start of the unread bytes in memory_
  std::size_t end_ = 0;
  LmdBuffer buffer_;
  std::vector<std::byte> swapped_;  ///< the buffer, when it has the other byte order
  bool buffer_swapped_ = false;
  std::string complaint_;
};

}  // namespace eventloom
