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

/// Shorter buffers hold no element, longer ones are taken for damage.
inline constexpr std::uint64_t kMaxLmdBufferBytes = std::uint64_t{256} << 20;
inline constexpr std::uint64_t kMinLmdBufferBytes = kLmdHeaderBytes + sizeof(LmdElement);

inline bool is_lmd_buffer(const LmdElement& element) { return element.is(10, 1) || element.is(100, 1); }
/// Of the whole buffer, as its first field says.
inline std::uint64_t lmd_buffer_bytes(const LmdBufferHeader& header) {
  return kLmdHeaderBytes + 2 * std::uint64_t{header.element.dlen};
}
/// `bytes` hold a buffer's header, written in the other byte order if `swapped`.
LmdBufferHeader load_lmd_buffer(std::span<const std::byte> bytes, bool swapped);
/// The same of a buffer that may tell its byte order; `swapped` is that of the one before, and is corrected.
LmdBufferHeader find_lmd_buffer(std::span<const std::byte> bytes, bool& swapped);

/// A buffer of list-mode data, in a file or as it came from a server.
struct LmdBuffer {
  LmdBufferHeader header;
  std::span<const std::byte> bytes;  ///< what there is of it, header included, as little-endian words
  std::uint64_t length = 0;          ///< of the whole buffer
  std::uint64_t offset = 0;          ///< in the file or the stream

  /// Why it is not as its header must say; nothing when it is.
  [[nodiscard]] std::optional<std::string> defect() const;
};

/// Finds the events in buffers that follow one another. Puts together events that span them; an event whose
/// fragments are not all there is dropped, what is lost is noted.
class LmdBufferEvents {
 public:
  /// `notes` outlive this.
  explicit LmdBufferEvents(LmdNotes& notes) : notes_(notes) {}

  /// The next buffer; without a defect. Its bytes stay unchanged until next() has returned false and the last
  /// event is done with.
  void begin(const LmdBuffer& buffer);
  /// The next event of the buffer; false when there are none left.
  bool next(LmdEvent& event);
  /// Done with the buffer: notes if the input broke off in it.
  void leave();
  /// A buffer with a defect, of which nothing can be read.
  void skip(const LmdBuffer& buffer, const std::string& defect);
  /// An empty buffer of this number lies between: it may be counted among the others, or not.
  void pass(std::uint32_t number);
  /// No more buffers: drops an event whose rest is missing. `why`: for people.
  void end(const std::string& why);
  /// What comes next does not follow what came before: drops an event whose rest is missing, and compares no
  /// number with those before. `why`: for people. Where nothing is dropped the caller notes the hole.
  void begin_anew(const std::string& why);

 private:
  /// An event of which the last fragment is yet to come.
  struct Open {
    std::vector<std::byte> bytes;  ///< its header and what there is of it
    std::uint64_t offset = 0;
    bool active = false;
  };

  void compare_numbers();
  bool next_element(LmdEvent& event);
  bool continue_event(std::span<const std::byte> fragment, bool goes_on, LmdEvent& event);
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
  bool cut_noted_ = false;                    ///< that the input breaks off in this buffer has been said
  bool hole_noted_ = false;                   ///< what is missing before this buffer has been said
};

}  // namespace eventloom
