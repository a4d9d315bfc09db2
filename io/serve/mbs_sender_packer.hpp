#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "formats/lmd.hpp"
#include "io/lmd/lmd_event.hpp"

namespace eventloom {

/// The buffer layout of an MBS server, announced in its handshake.
struct MbsLayout {
  bool native = false;      ///< buffers have a fixed size, as in MBS; else the size of their contents, as in DABC
  bool big_endian = false;  ///< byte order of all 32-bit words
  std::uint32_t buffer_bytes = 64U << 10;  ///< fixed or maximum buffer size, header included; a multiple of 4
  std::uint32_t buffers_per_stream = 1;    ///< native: the reply to a request is one stream
  bool full_streams = false;               ///< native: pad a stream with empty buffers

  [[nodiscard]] std::uint32_t buffers() const { return native ? buffers_per_stream : 1; }
};

/// One MBS stream, or one buffer of variable length. It is sent as a whole, and no event spans two groups.
struct MbsGroup {
  std::vector<std::byte> bytes;  ///< bytes as sent
  std::uint32_t buffers = 0;     ///< number of buffers, including empty ones
  std::uint32_t events = 0;
  std::uint64_t event_bytes = 0;
};
using MbsGroupPtr = std::shared_ptr<const MbsGroup>;

/// The server's handshake: 1, size of the largest buffer in bytes, buffers per stream, streams (0: variable length).
inline constexpr std::size_t kMbsHandshakeBytes = 16;
std::array<std::byte, kMbsHandshakeBytes> encode_mbs_handshake(const MbsLayout& layout);

/// Packs events into buffers. Native buffers are filled, except the last of a stream: an event that does not fit the
/// rest of a buffer continues in the next (see formats/lmd.hpp), but never in another stream.
class MbsPacker {
 public:
  explicit MbsPacker(const MbsLayout& layout) : layout_(layout) {}

  /// Whether an event of this size fits a group.
  [[nodiscard]] bool can_hold(std::uint64_t event_bytes) const { return event_bytes <= largest_event(); }
  /// Size of the largest event that fits a group, bytes.
  [[nodiscard]] std::uint64_t largest_event() const;

  /// Adds an event that can_hold() admits. If it does not fit the current group, returns that group and puts the event
  /// into a new one; else returns null.
  MbsGroupPtr add(const LmdEvent& event);
  /// Returns the unfinished group, or null if there is none.
  MbsGroupPtr flush();
  /// Returns a keep-alive: a group without events. Call it only if no group has been begun.
  MbsGroupPtr keep_alive();
  /// Skips a buffer number, so that clients notice that data at this place were not packed. Call it only if no group
  /// has been begun.
  void pass_over() { ++number_; }
  /// Whether events wait for flush().
  [[nodiscard]] bool has_begun() const { return group_ != nullptr; }

 private:
  [[nodiscard]] std::size_t room() const;
  [[nodiscard]] bool fits_into(std::uint64_t event_bytes, std::size_t room, std::uint32_t buffers_left) const;
  void append(const LmdEvent& event);
  void append_spanning(const LmdEvent& event);
  void append_fragments(std::span<const std::byte> event);
  void begin_buffer(bool continues);
  void end_buffer(bool has_more);
  MbsGroupPtr finish();

  MbsLayout layout_;
  std::shared_ptr<MbsGroup> group_;
  std::size_t begin_ = 0;   ///< offset of the current buffer in group_
  LmdBufferHeader header_;  ///< header of the current buffer
  std::uint32_t number_ = 0;
  std::size_t last_bytes_ = 0;    ///< size of the last group
  std::vector<std::byte> event_;  ///< an event that spans buffers
};

}  // namespace eventloom
