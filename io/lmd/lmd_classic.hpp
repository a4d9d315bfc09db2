#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/lmd.hpp"
#include "io/files/file_window.hpp"
#include "io/lmd/lmd_container.hpp"
#include "io/lmd/lmd_notes.hpp"

namespace eventloom {

/// How the file header of a classic file and its first buffer say that it is divided.
struct LmdBufferLayout {
  std::uint64_t header_bytes = 0;  ///< of the file header
  std::uint64_t buffer_bytes = 0;  ///< with headers
};
/// `file`: at its start; the window is not moved. Throws UserError when no buffers can have such a size.
LmdBufferLayout find_lmd_buffers(FileWindow& file, const LmdBufferHeader& file_header, bool swapped);

/// The buffers of a 2000/1 file. Puts together events that span buffers; an event whose fragments are not all
/// there is dropped. Behind a damaged place reading goes on with the next buffer.
class ClassicLmd final : public LmdContainer {
 public:
  /// `file`: at the first buffer. It and `notes` outlive this. `swapped`: the byte order of buffers that do not
  /// tell theirs.
  ClassicLmd(FileWindow& file, std::uint64_t buffer_bytes, bool swapped, LmdNotes& notes)
      : file_(file), buffer_bytes_(buffer_bytes), swapped_(swapped), notes_(notes) {}

  bool next(LmdEvent& event) override;

 private:
  /// An event of which the last fragment is yet to come.
  struct Open {
    std::vector<std::byte> bytes;  ///< its header and what there is of it
    std::uint64_t offset = 0;
    bool active = false;
  };

  bool next_buffer();
  bool read_buffer_header();
  bool accept_buffer();
  void leave_buffer();
  void compare_numbers();
  void begin_elements();
  bool next_element(LmdEvent& event);
  bool continue_event(std::span<const std::byte> fragment, bool goes_on, LmdEvent& event);
  void open_event(std::span<const std::byte> fragment);
  bool give(std::span<const std::byte> bytes, std::uint64_t offset, LmdEvent& event);
  void lose_rest(const LmdElement& element);
  void drop_open(const std::string& why, LmdEffect effect);
  bool end();
  void note(std::uint64_t offset, LmdEffect effect, std::uint32_t hits, std::string text);

  FileWindow& file_;
  std::uint64_t buffer_bytes_;
  bool swapped_;
  LmdNotes& notes_;

  std::vector<std::byte> swapped_bytes_;  ///< the buffer, when its byte order is the other
  std::span<const std::byte> buffer_;     ///< what the file has of it
  LmdBufferHeader header_;
  std::uint64_t length_ = 0;  ///< of the buffer in the file; 0 before the first
  std::uint64_t base_ = 0;    ///< its offset in the file
  std::size_t at_ = 0;        ///< of the next element in the buffer
  std::size_t end_ = 0;       ///< of the elements in the buffer
  bool begins_ = false;       ///< at_ is at the first element

  Open open_;
  std::optional<std::uint32_t> last_number_;  ///< of a buffer
  bool cut_noted_ = false;                    ///< that the file ends in this buffer has been said
  bool hole_noted_ = false;                   ///< what is missing before this buffer has been said
};

}  // namespace eventloom
