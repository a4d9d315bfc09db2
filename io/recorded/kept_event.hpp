#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "formats/event.hpp"
#include "io/files/complaints.hpp"
#include "io/recorded/hit_reader.hpp"

/// What readers of list mode by event number share. The event behind an event may tell that it must go, so the newest
/// one of a block can be taken out again.
namespace eventloom {

/// Whether a block holds as much as it should: it stays in the L2 cache.
bool is_full(const HitBlock& block);

/// The event whose hits were appended last.
struct KeptEvent {
  std::size_t first_hit = 0;  ///< in the block
  std::size_t losses = 0;     ///< of the block, before it
  std::size_t file = 0;       ///< number of the file that it is from
  std::uint64_t offset = 0;   ///< bytes in the file
  std::uint32_t number = 0;

  /// Its hits are what will be appended to `block` next.
  static KeptEvent at_end_of(const HitBlock& block, std::size_t file, std::uint64_t offset, std::uint32_t number);
  /// Its hits go, and count as lost.
  void take_back(DropCause cause, HitBlock& block) const;
};

/// Tells that an event does not count. `file`: that it is from, empty: the one that `complaints` are of.
void tell_left_out(Complaints& complaints, std::uint64_t offset, std::uint32_t number, const std::string& file,
                   DropCause cause);

}  // namespace eventloom
