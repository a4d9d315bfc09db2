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

/// Shorter buffers hold no element, longer ones count as damaged.
inline constexpr std::uint64_t kMaxLmdBufferBytes = std::uint64_t{256} << 20;
inline constexpr std::uint64_t kMinLmdBufferBytes = kLmdHeaderBytes + sizeof(LmdElement);

inline bool is_lmd_buffer(const LmdElement& element) { return element.is(10, 1) || element.is(100, 1); }
/// Of the whole buffer, according to its first field.
inline std::uint64_t lmd_buffer_bytes(const LmdBufferHeader& header) {
  return kLmdHeaderBytes + 2 * std::uint64_t{header.element.dlen};
}
/// `bytes` hold a buffer's header, written in the other byte order if `swapped`.
LmdBufferHeader load_lmd_buffer(std::span<const std::byte> bytes, bool swapped);
/// The same for a buffer that may indicate its byte order; `swapped` is that of the previous one, and is corrected.
LmdBufferHeader find_lmd_buffer(std::span<const std::byte> bytes, bool& swapped);

/// A buffer of list-mode data, from a file or a server.
struct LmdBuffer {
  LmdBufferHeader header;
  std::span<const std::byte> bytes;  ///< its bytes so far, header included, as little-endian words
  std::uint64_t length = 0;          ///< of the whole buffer
  std::uint64_t offset = 0;          ///< in the file or the stream

  /// Why its header is invalid; nothing when it is valid.
  [[nodiscard]] std::optional<std::string> defect() const;
};

/// Finds the events in consecutive buffers. Joins events that span them; an event with missing fragments is dropped,
/// and the loss is noted.
class LmdBufferEvents {
 public:
  /// `notes` outlive this.
  explicit LmdBufferEvents(LmdNotes& notes) : notes_(notes) {}

  /// The next buffer; without a defect. Its bytes must not change until next() has returned false and the last event is
  /// no longer used.
  void begin(const LmdBuffer& buffer);
  /// The next event of the buffer; false when there are none left.
  bool next(LmdEvent& event);
  /// Ends the buffer: notes if the input broke off in it.
  void leave();
  /// A buffer with a defect, which cannot be read.
  void skip(const LmdBuffer& buffer, const std::string& defect);
  /// An empty buffer of this number lies between: it may or may not be counted among the others.
  void pass(std::uint32_t number);
  /// No more buffers: drops an unfinished event. `why`: for messages.
  void end(const std::string& why);
  /// The next buffer does not continue the previous one: drops an unfinished event, and does not compare buffer
  /// numbers. `why`: for messages. Where nothing is dropped the caller notes the hole.
  void begin_anew(const std::string& why);

 private:
  /// An event whose last fragment is yet to come.
  struct Open {
    std::vector<std::byte> bytes;  ///< its header and the fragments so far
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
  std::size_t at_ = 0;   ///< of the next element in the buffer
  std::size_t end_ = 0;  ///< of the elements in the buffer
  bool begins_ = false;  ///< at_ is at the first element

  Open open_;
  std::optional<std::uint32_t> last_number_;  ///< of a buffer
  bool cut_noted_ = false;                    ///< the end of the input in this buffer has been reported
  bool hole_noted_ = false;                   ///< what is missing before this buffer has been reported
};

}  // namespace eventloom
