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

/// The division of a classic file into buffers, from its file header and its first buffer.
struct LmdBufferLayout {
  std::uint64_t header_bytes = 0;  ///< of the file header
  std::uint64_t buffer_bytes = 0;  ///< with headers
};
/// `file`: at its start; it is not advanced. Throws UserError when the buffer size is impossible.
LmdBufferLayout find_lmd_buffers(FileReader& file, const LmdBufferHeader& file_header, bool swapped);

/// The buffers of a 2000/1 file. After damage, reading continues with the next buffer.
class ClassicLmd final : public LmdContainer {
 public:
  /// `file`: at the first buffer. It and `notes` outlive this. `swapped`: the byte order of buffers that do not
  /// indicate theirs.
  ClassicLmd(FileReader& file, std::uint64_t buffer_bytes, bool swapped, LmdNotes& notes)
      : file_(file), buffer_bytes_(buffer_bytes), swapped_(swapped), notes_(notes), events_(notes) {}

  bool next(LmdEvent& event) override;

 private:
  bool next_buffer();
  bool read_buffer_header();
  bool accept_buffer();

  FileReader& file_;
  std::uint64_t buffer_bytes_;
  bool swapped_;
  LmdNotes& notes_;
  LmdBufferEvents events_;

  std::vector<std::byte> swapped_bytes_;  ///< the buffer, when it has the other byte order
  LmdBuffer buffer_;
  std::uint64_t length_ = 0;  ///< of the buffer in the file; 0 before the first
};

}  // namespace eventloom
