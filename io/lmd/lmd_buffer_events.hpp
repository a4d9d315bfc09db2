#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/lmd.hpp"
#include "io/lmd/lmd_event.hpp"
#include "io/lmd/lmd_notes.hpp"

namespace eventloom {

/// Limits of the buffer size: shorter buffers hold no element, longer ones count as damaged.
inline constexpr std::uint64_t kMaxLmdBufferBytes = std::uint64_t{256} << 20;
inline constexpr std::uint64_t kMinLmdBufferBytes = kLmdHeaderBytes + sizeof(LmdElement);

inline bool is_lmd_buffer(const LmdElement& element) { return element.is(10, 1) || element.is(100, 1); }
/// Size of the whole buffer, according to its first field.
inline std::uint64_t lmd_buffer_bytes(const LmdBufferHeader& header) {
  return kLmdHeaderBytes + 2 * std::uint64_t{header.element.dlen};
}
/// Reads a buffer's header from `bytes`, written in the other byte order if `swapped`.
LmdBufferHeader load_lmd_buffer(std::span<const std::byte> bytes, bool swapped);
/// Like load_lmd_buffer(), for a buffer that may indicate its own byte order. `swapped` is that of the previous buffer
/// on entry and that of this one on return.
LmdBufferHeader find_lmd_buffer(std::span<const std::byte> bytes, bool& swapped);

/// A buffer of list-mode data, from a file or a server.
struct LmdBuffer {
  LmdBufferHeader header;
  std::span<const std::byte> bytes;  ///< available bytes, including the header, as little-endian words
  std::uint64_t length = 0;          ///< length of the whole buffer
  std::uint64_t offset = 0;          ///< position in the file or stream

  /// Why the header is invalid; std::nullopt if it is valid.
  [[nodiscard]] std::optional<std::string> defect() const;
};

/// Extracts the events from consecutive buffers. Joins events that span buffers. Drops an event with missing fragments,
/// and notes the loss.
class LmdBufferEvents {
 public:
  /// `notes` must outlive this.
  explicit LmdBufferEvents(LmdNotes& notes) : notes_(notes) {}

  /// Starts the next buffer, which must have no defect. Its bytes must not change until next() has returned false and
  /// the last event is no longer used.
  void begin(const LmdBuffer& buffer);
  /// Extracts the next event of the buffer. Returns false when none is left.
  bool next(LmdEvent& event);
  /// Ends the buffer, and notes if the input broke off in it.
  void leave();
  /// Skips a buffer with a defect.
  void skip(const LmdBuffer& buffer, const std::string& defect);
  /// Passes over an empty buffer of this number, which writers may or may not include in their numbering.
  void pass(std::uint32_t number);
  /// Ends the input: drops an unfinished event. `why` is the reason in messages.
  void end(const std::string& why);
  /// The next buffer does not continue the previous one: drops an unfinished event and does not compare buffer numbers.
  /// `why` is the reason in messages. If nothing is dropped, the caller notes the hole.
  void restart(const std::string& why);

 private:
  /// An event whose last fragment is still missing.
  struct Open {
    std::vector<std::byte> bytes;  ///< header and fragments so far
    std::uint64_t offset = 0;
    bool active = false;
  };

  void compare_numbers();
  bool next_element(LmdEvent& event);
  bool continue_event(std::span<const std::byte> fragment, bool has_more, LmdEvent& event);
  void open_event(std::span<const std::byte> fragment);
  bool give(std::span<const std::byte> bytes, std::uint64_t offset, LmdEvent& event);
  void lose_rest(const LmdElement& element);
  void drop_open(const std::string& why, LmdEffect effect);
  void note(std::uint64_t offset, LmdEffect effect, std::uint32_t hits, std::string text);

  LmdNotes& notes_;
  LmdBuffer buffer_;
  std::size_t at_ = 0;   ///< position of the next element in the buffer
  std::size_t end_ = 0;  ///< end of the elements in the buffer
  bool begins_ = false;  ///< at_ is at the first element

  Open open_;
  std::optional<std::uint32_t> last_number_;  ///< number of the last buffer
  bool cut_noted_ = false;                    ///< the end of the input in this buffer has been reported
  bool hole_noted_ = false;                   ///< the loss before this buffer has been reported
};

}  // namespace eventloom
