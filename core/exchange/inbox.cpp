#include "core/exchange/inbox.hpp"

#include <stdexcept>
#include <string>

#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

/// After the flush of its sender a cell is complete by the MPI standard; networks with relaxed
/// ordering have been seen to be late. This many polls are far more than any of them needs.
constexpr std::uint64_t kPatience = 10'000'000;
constexpr std::size_t kCellsAtOnce = 64;

/// All chunks of a cell, or false when any does not prove itself.
bool read_cell(Cell cell, std::vector<Chunk>& chunks) {
  chunks.clear();
  while (!cell.at_end()) {
    const auto chunk = cell.next();
    if (!chunk) return false;
    if (chunk->header.has_body_crc != 0 && chunk->header.body_crc != crc32c(chunk->body)) return false;
    chunks.push_back(*chunk);
  }
  return true;
}

}  // namespace

std::size_t Inbox::drain(SliceAssembler& into) {
  std::size_t cells = 0;
  std::vector<Chunk> chunks;
  for (std::size_t r = 0; r < rings_.size(); ++r) {
    for (std::size_t i = 0; i < kCellsAtOnce; ++i) {
      const auto cell = rings_[r].poll();
      if (!cell) break;
      if (!read_cell(*cell, chunks)) {
        if (++waited_[r] < kPatience) break;
        throw std::runtime_error("exchange: a cell from rank " + std::to_string(rings_[r].sender()) +
                                 " never matched its checksum");
      }
      waited_[r] = 0;
      for (const auto& chunk : chunks) into.place(chunk.header, chunk.body);
      rings_[r].release();
      ++cells;
    }
    rings_[r].grant(false);
  }
  return cells;
}

void Inbox::grant(SliceId window, bool eager) {
  for (auto& ring : rings_) {
    ring.set_window(window.value);
    ring.grant(eager);
  }
}

void Inbox::settle() {
  for (auto& ring : rings_) ring.settle();
}

}  // namespace eventloom
