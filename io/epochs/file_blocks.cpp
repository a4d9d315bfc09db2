#include "io/epochs/file_blocks.hpp"

#include <utility>

namespace eventloom {

std::span<const std::byte> FileBlocks::read(std::uint64_t offset, std::size_t n, Epoch end) {
  if (spare_.empty()) spare_.emplace_back();
  auto& block = used_.emplace_back(std::move(spare_.back()));
  spare_.pop_back();
  block.end = end;
  std::byte* const memory = block.memory.require(n);
  const std::size_t got = file_.read_at(offset, {memory, n});
  lost_ = lost_ || got < n;
  return {memory, got};
}

/// Pieces may have been read in any order.
void FileBlocks::release_before(Epoch epoch) {
  for (auto block = used_.begin(); block != used_.end();) {
    if (block->end > epoch) {
      ++block;
      continue;
    }
    spare_.push_back(std::move(*block));
    block = used_.erase(block);
  }
}

}  // namespace eventloom
