#include "io/epochs/file_blocks.hpp"

#include <algorithm>
#include <utility>

namespace eventloom {

std::span<const std::byte> FileBlocks::read(std::uint64_t offset, std::size_t n, Epoch end) {
  const auto holding =
      std::ranges::find_if(used_, [=](const Block& b) { return offset >= b.offset && offset + n <= b.offset + b.n; });
  if (holding != used_.end()) return {holding->memory.data() + (offset - holding->offset), n};
  if (spare_.empty()) spare_.emplace_back();
  auto& block = used_.emplace_back(std::move(spare_.back()));
  spare_.pop_back();
  std::byte* const memory = block.memory.require(n);
  block.offset = offset;
  block.n = file_.read_at(offset, {memory, n});
  block.end = end;
  lost_ = lost_ || block.n < n;
  return {memory, block.n};
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
