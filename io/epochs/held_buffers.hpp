#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "core/dataflow/source.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

/// Memory for epoch buffers is allocated in chunks of this size: somewhat more than the block that a reader returns.
inline constexpr std::size_t kHeldChunkBytes = std::size_t{160} << 10;

/// Whole stored epoch buffers, back to back in ascending epochs, of a stream held in memory. The memory does not move
/// while any of it is in use.
struct HeldBuffers {
  std::vector<std::byte> bytes;
  std::vector<IndexEntry> buffers;  ///< offsets are in `bytes`; not empty while held

  [[nodiscard]] Epoch end() const { return buffers.back().epochs().end; }
  /// First buffer that ends after `epoch`.
  [[nodiscard]] auto first_behind(Epoch epoch) const {
    return std::ranges::upper_bound(buffers, epoch, {}, [](const auto& b) { return b.epochs().end; });
  }
  /// First buffer that begins at `epoch` or later.
  [[nodiscard]] auto first_from(Epoch epoch) const {
    return std::ranges::lower_bound(buffers, epoch, {}, &IndexEntry::first_epoch);
  }
};

/// Appends all buffers that overlap `epochs` to `out`, in ascending epochs.
void collect_held(const std::deque<HeldBuffers>& held, EpochRange epochs, std::vector<std::span<const std::byte>>& out);

/// The first epoch, at `from` or later, in which a buffer begins.
std::optional<Epoch> next_held(const std::deque<HeldBuffers>& held, Epoch from);

}  // namespace eventloom
