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

/// How a server of MBS data lays out what it sends; it tells its clients with its handshake.
struct MbsLayout {
  bool native = false;      ///< buffers of one size, as MBS; else as long as what is in them, as DABC
  bool big_endian = false;  ///< all 32-bit words
  std::uint32_t buffer_bytes =
      64U << 10;                         ///< header included, a multiple of 4: of all native buffers, of others at most
  std::uint32_t buffers_per_stream = 1;  ///< native: one stream is what a request is answered with
  bool full_streams = false;             ///< native: empty buffers fill up a stream that has fewer

  [[nodiscard]] std::uint32_t buffers() const { return native ? buffers_per_stream : 1; }
};

/// One MBS stream, or one buffer of variable length: what is sent as a whole. No event reaches out of it.
struct MbsGroup {
  std::vector<std::byte> bytes;  ///< as they are sent
  std::uint32_t buffers = 0;     ///< empty ones too
  std::uint32_t events = 0;
  std::uint64_t event_bytes = 0;
};
using MbsGroupPtr = std::shared_ptr<const MbsGroup>;

/// What a server says first: 1, the largest buffer in bytes, buffers of a stream, streams (0: variable length).
inline constexpr std::size_t kMbsHandshakeBytes = 16;
std::array<std::byte, kMbsHandshakeBytes> encode_mbs_handshake(const MbsLayout& layout);

/// Packs events into buffers. Native buffers that are not the last of their stream are filled up: an event that
/// does not fit into the rest of one goes on in the next (formats/lmd.hpp says how), but never in another stream.
class MbsPacker {
 public:
  explicit MbsPacker(const MbsLayout& layout) : layout_(layout) {}

  /// Whether there can be room for an event of so many bytes.
  [[nodiscard]] bool can_hold(std::uint64_t event_bytes) const { return event_bytes <= largest_event(); }
  /// Bytes of the largest event.
  [[nodiscard]] std::uint64_t largest_event() const;

  /// Adds an event that can_hold() admits. Gives what had no room for it and is complete, else nothing.
  MbsGroupPtr add(const LmdEvent& event);
  /// What has been begun; nothing if that is nothing.
  MbsGroupPtr flush();
  /// Without events: a sign of life. Nothing may have been begun.
  MbsGroupPtr keep_alive();
  /// Whether events wait for flush().
  [[nodiscard]] bool has_begun() const { return group_ != nullptr; }

 private:
  [[nodiscard]] std::size_t room() const;
  [[nodiscard]] bool fits_into(std::uint64_t event_bytes, std::size_t room, std::uint32_t buffers_left) const;
  void encode(const LmdEvent& event);
  void append_spanning(std::span<const std::byte> event);
  void append(std::span<const std::byte> bytes);
  void begin_buffer(bool continues);
  void end_buffer(bool goes_on);
  MbsGroupPtr finish();

  MbsLayout layout_;
  std::shared_ptr<MbsGroup> group_;
  std::size_t begin_ = 0;   ///< of the buffer at hand in group_
  LmdBufferHeader header_;  ///< of that buffer
  std::uint32_t number_ = 0;
  std::vector<std::byte> event_;
};

}  // namespace eventloom
