#include "core/exchange/inbox.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kCellsAtOnce = 64;

}  // namespace

bool read_chunks(Cell cell, std::vector<Chunk>& chunks) {
  chunks.clear();
  while (!cell.at_end()) {
    const auto chunk = cell.next();
    if (!chunk) return false;
    chunks.push_back(*chunk);
  }
  return true;
}

bool bodies_match(const std::vector<Chunk>& chunks) {
  return std::ranges::all_of(chunks, [](const Chunk& chunk) {
    return chunk.header.has_body_crc == 0 || chunk.header.body_crc == crc32c(chunk.body);
  });
}

std::size_t Inbox::drain(SliceAssembler& into) {
  std::size_t cells = 0;
  std::vector<Chunk> chunks;
  for (auto& ring : rings_) {
    for (std::size_t i = 0; i < kCellsAtOnce; ++i) {
      const auto cell = ring.poll();
      if (!cell) break;
      if (!read_chunks(*cell, chunks) || !bodies_match(chunks)) {
        ring.wait_for_proof();
        break;
      }
      for (const auto& chunk : chunks) place(chunk, into);
      ring.release();
      ++cells;
    }
    ring.grant(false);
  }
  return cells;
}

void Inbox::place(const Chunk& chunk, SliceAssembler& into) const {
  const auto& header = chunk.header;
  if (header.kind == ChunkHeader::kData && header.slice >= slice_limit_.value) {
    throw std::runtime_error("exchange: slice " + std::to_string(header.slice) + " of origin " +
                             std::to_string(header.origin) + " was sent beyond the granted slice limit");
  }
  into.place(header, chunk.body);
}

void Inbox::grant(SliceId slice_limit, bool eager) {
  slice_limit_ = std::max(slice_limit_, slice_limit);
  if (slice_limit_.value - far_limit_.value >= step_) far_limit_ = slice_limit_;
  for (auto& ring : rings_) {
    ring.set_slice_limit((ring.is_near() ? slice_limit_ : far_limit_).value);
    ring.grant(eager && ring.is_near());
  }
}

}  // namespace eventloom
