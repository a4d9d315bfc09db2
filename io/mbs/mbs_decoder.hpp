#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/lmd/lmd_buffer_events.hpp"

namespace eventloom {

/// The handshake of an MBS server: four 32-bit words in the server's byte order. Buffers of up to 64 MiB are accepted.
///
///   0 i32 1, the byte-order mark         4 i32 size of each buffer, header included; the maximum if it varies
///   8 i32 buffers per stream            12 i32 streams; 0: buffers are as long as their contents (DABC)
///
/// DABC's legacy mode sends buffers of the native size with a header of type 100/1 that states the contents' length.
struct MbsHandshake {
  static constexpr std::size_t kBytes = 16;

  bool swapped = false;  ///< the server has the other byte order
  std::uint32_t max_bytes = 0;
  std::uint32_t buffers_per_stream = 0;
  bool variable = false;  ///< buffers are as long as their contents

  /// Buffers in a stream server's reply to a request, empty ones included.
  [[nodiscard]] std::uint32_t buffers_per_reply() const { return variable ? 1 : buffers_per_stream; }
};

/// Extracts the handshake and the buffers from the bytes of one connection to an MBS server, however they are split.
/// Independent of sockets. Memory grows with the bytes received, never with an announced length.
class MbsDecoder {
 public:
  /// `offset`: position of the first byte after the handshake in the stream of all connections.
  explicit MbsDecoder(std::uint64_t offset) : base_(offset) {}

  /// Non-empty memory for the next bytes. Invalidates buffer().
  std::span<std::byte> room();
  /// States that `n` bytes have been written to room().
  void took(std::size_t n) { end_ += n; }

  enum class Found : std::uint8_t {
    nothing,     ///< more bytes are needed
    handshake,   ///< see handshake()
    buffer,      ///< see buffer(), which may have a defect
    empty,       ///< a buffer without events, sent as a keep-alive; buffer() has its header
    disconnect,  ///< a buffer that announces the server's end
    garbage,     ///< see defect(); no later data can be decoded
  };
  /// Decodes the next item. Invalidates buffer().
  Found next();
  /// Makes the incomplete buffer of an ended connection available in buffer(), shorter than its length. Returns false
  /// when not even its header was received.
  bool cut();

  [[nodiscard]] const MbsHandshake& handshake() const { return handshake_; }
  [[nodiscard]] const LmdBuffer& buffer() const { return buffer_; }
  [[nodiscard]] const std::string& defect() const { return defect_; }
  /// Bytes received that belong to no item.
  [[nodiscard]] std::size_t unread() const { return end_ - begin_; }
  /// Offset of the next item in the stream.
  [[nodiscard]] std::uint64_t offset() const { return base_; }
  /// Whether the handshake has been received.
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
  std::vector<std::byte> swapped_;  ///< the buffer after byte swapping, if it has the other byte order
  bool buffer_swapped_ = false;
  std::string defect_;
};

}  // namespace eventloom
