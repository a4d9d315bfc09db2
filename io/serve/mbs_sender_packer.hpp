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
  bool native = false;      ///< buffers of one size, as MBS; else as long as their contents, as DABC
  bool big_endian = false;  ///< all 32-bit words
  std::uint32_t buffer_bytes =
      64U << 10;                         ///< header included, a multiple of 4: of all native buffers, of others at most
  std::uint32_t buffers_per_stream = 1;  ///< native: the reply to a request is one stream
  bool full_streams = false;             ///< native: pad a stream with empty buffers

  [[nodiscard]] std::uint32_t buffers() const { return native ? buffers_per_stream : 1; }
};

/// One MBS stream, or one buffer of variable length: sent as a whole. No event spans two of them.
struct MbsGroup {
  std::vector<std::byte> bytes;  ///< as they are sent
  std::uint32_t buffers = 0;     ///< including empty ones
  std::uint32_t events = 0;
  std::uint64_t event_bytes = 0;
};
using MbsGroupPtr = std::shared_ptr<const MbsGroup>;

/// The server's handshake: 1, the largest buffer in bytes, buffers of a stream, streams (0: variable length).
inline constexpr std::size_t kMbsHandshakeBytes = 16;
std::array<std::byte, kMbsHandshakeBytes> encode_mbs_handshake(const MbsLayout& layout);

/// Packs events into buffers. Native buffers that are not the last of their stream are filled: an event that does not
/// fit into the rest of one continues in the next (see formats/lmd.hpp), but never in another stream.
class MbsPacker {
 public:
  explicit MbsPacker(const MbsLayout& layout) : layout_(layout) {}

  /// Whether an event of this many bytes can fit.
  [[nodiscard]] bool can_hold(std::uint64_t event_bytes) const { return event_bytes <= largest_event(); }
  /// Bytes of the largest event.
  [[nodiscard]] std::uint64_t largest_event() const;

  /// Adds an event that can_hold() admits. Returns the group completed by it, else nothing.
  MbsGroupPtr add(const LmdEvent& event);
  /// The unfinished group; nothing if it is empty.
  MbsGroupPtr flush();
  /// A group without events: a sign of life. No group may have been begun.
  MbsGroupPtr keep_alive();
  /// Data were not packed that would have come here: the number of a buffer is left out, so that clients see it. No
  /// group may have been begun.
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
  std::size_t begin_ = 0;   ///< of the current buffer in group_
  LmdBufferHeader header_;  ///< of that buffer
  std::uint32_t number_ = 0;
  std::size_t last_bytes_ = 0;    ///< of the last group
  std::vector<std::byte> event_;  ///< one that spans buffers
};

}  // namespace eventloom
