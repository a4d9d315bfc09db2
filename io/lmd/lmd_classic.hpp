#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/lmd.hpp"
#include "io/files/file_reader.hpp"
#include "io/lmd/lmd_buffer_events.hpp"
#include "io/lmd/lmd_container.hpp"
#include "io/lmd/lmd_notes.hpp"

namespace eventloom {

/// Layout of the buffers in a classic file, derived from its file header and first buffer.
struct LmdBufferLayout {
  std::uint64_t header_bytes = 0;  ///< size of the file header
  std::uint64_t buffer_bytes = 0;  ///< size of a buffer, including its header
};
/// `file` must be at its start, and is not advanced. Throws UserError when the buffer size is impossible.
LmdBufferLayout find_lmd_buffers(FileReader& file, const LmdBufferHeader& file_header, bool swapped);

/// Reads a 2000/1 file. After damage, reading continues with the next buffer.
class ClassicLmd final : public LmdContainer {
 public:
  /// `file` must be at the first buffer. `file` and `notes` must outlive this. `swapped`: byte order of buffers that do
  /// not indicate their own.
  ClassicLmd(FileReader& file, std::uint64_t buffer_bytes, bool swapped, LmdNotes& notes)
      : file_(file), buffer_bytes_(buffer_bytes), swapped_(swapped), notes_(notes), events_(notes) {}

  bool next(LmdEvent& event) override;

 private:
  bool next_buffer();
  bool read_buffer_header();
  bool accept_buffer();
  [[nodiscard]] std::uint64_t length_in_file(const LmdBufferHeader& header) const;
  [[nodiscard]] bool awaits_buffer();

  FileReader& file_;
  std::uint64_t buffer_bytes_;
  bool swapped_;
  LmdNotes& notes_;
  LmdBufferEvents events_;

  std::vector<std::byte> swapped_bytes_;  ///< contents of a buffer in the other byte order
  LmdBuffer buffer_;
  std::uint64_t length_ = 0;  ///< length of the buffer in the file; 0 before the first
};

}  // namespace eventloom
