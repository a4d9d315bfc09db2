#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "formats/event.hpp"
#include "io/files/defect_log.hpp"
#include "io/recorded/hit_reader.hpp"

/// Shared by readers of list mode by event number. The newest event of a block can be removed again, since the next
/// event may show that it must be dropped.
namespace eventloom {

/// Whether a block is full. The limit keeps blocks in the L2 cache.
bool is_full(const HitBlock& block);

/// The last event whose hits were appended to a block.
struct KeptEvent {
  std::size_t first_hit = 0;  ///< index of its first hit in the block
  std::size_t losses = 0;     ///< number of losses in the block before it
  std::size_t file = 0;       ///< number of its file
  std::uint64_t offset = 0;   ///< position in the file, bytes
  std::uint32_t number = 0;

  /// Creates the record of an event whose hits will be appended to `block` next.
  static KeptEvent at_end_of(const HitBlock& block, std::size_t file, std::uint64_t offset, std::uint32_t number);
  /// Removes its hits from `block` and counts them as lost.
  void take_back(DropCause cause, HitBlock& block) const;
  /// Takes it, and what follows it, out of `block`, to begin the next one.
  HitBlock hold_back(HitBlock& block);
};

/// Reports that an event is dropped. `file`: its file; empty: that of `defect_log`.
void report_left_out(DefectLog& defect_log, std::uint64_t offset, std::uint32_t number, const std::string& file,
                     DropCause cause);

}  // namespace eventloom
