#include "core/exchange/inbox.hpp"

#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

/// After the flush of its sender a cell is complete by the MPI standard; networks with relaxed
/// ordering have been seen to be late. This many polls are far more than any of them needs.
constexpr std::uint64_t kPatience = 10'000'000;
constexpr std::size_t kCellsAtOnce = 64;

struct Chunk {
  ChunkHeader header;
  std::span<const std::byte> body;
};

/// The chunk at the start of `cell` if it is what its checksums say.
std::optional<Chunk> read_chunk(std::span<const std::byte> cell) {
  Chunk chunk;
  auto& header = chunk.header;
  if (cell.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, cell.data(), sizeof header);
  const auto counted = std::as_bytes(std::span(&header, 1)).first(offsetof(ChunkHeader, crc));
  if (header.crc != crc32c(counted) || header.bytes > cell.size() - sizeof header) return std::nullopt;
  chunk.body = cell.subspan(sizeof header, header.bytes);
  if (header.has_body_crc != 0 && header.body_crc != crc32c(chunk.body)) return std::nullopt;
  return chunk;
}

/// All chunks of a cell, or none.
bool read_cell(std::span<const std::byte> cell, std::vector<Chunk>& chunks) {
  chunks.clear();
  while (!cell.empty()) {
    const auto chunk = read_chunk(cell);
    if (!chunk) return false;
    chunks.push_back(*chunk);
    cell = cell.subspan(std::min<std::uint64_t>(cell.size(), padded(sizeof(ChunkHeader) + chunk->header.bytes)));
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
