#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "formats/event.hpp"
#include "io/files/complaints.hpp"
#include "io/recorded/hit_reader.hpp"

/// Shared by readers of list mode by event number. The next event may show that the newest one of a block must be
/// dropped, so that one can be taken out again.
namespace eventloom {

/// Whether a block is full: it stays in the L2 cache.
bool is_full(const HitBlock& block);

/// The event whose hits were appended last.
struct KeptEvent {
  std::size_t first_hit = 0;  ///< in the block
  std::size_t losses = 0;     ///< of the block, before it
  std::size_t file = 0;       ///< number of its file
  std::uint64_t offset = 0;   ///< bytes in the file
  std::uint32_t number = 0;

  /// The next hits appended to `block` belong to it.
  static KeptEvent at_end_of(const HitBlock& block, std::size_t file, std::uint64_t offset, std::uint32_t number);
  /// Removes its hits and counts them as lost.
  void take_back(DropCause cause, HitBlock& block) const;
};

/// Reports that an event does not count. `file`: its file; empty: that of `complaints`.
void tell_left_out(Complaints& complaints, std::uint64_t offset, std::uint32_t number, const std::string& file,
                   DropCause cause);

}  // namespace eventloom
