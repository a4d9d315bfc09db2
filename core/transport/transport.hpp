#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace eventloom {

/// One-sided exchange of one rank with the windows of all ranks, itself included. One thread at a time.
class Transport {
 public:
  virtual ~Transport() = default;

  /// This rank's own window, zeroed at the start. Others write into it at any time: after sync(), check number and
  /// checksum of anything read.
  [[nodiscard]] virtual std::span<std::byte> window() = 0;

  /// Starts to write `data` at `offset` bytes into the window of `rank`. `data` must not change until the next
  /// flush(rank). Puts to one rank may complete in any order.
  virtual void put(int rank, std::uint64_t offset, std::span<const std::byte> data) = 0;

  /// On return all earlier puts to `rank` are complete at the target: they are visible to all later reads of its
  /// window. May wait for `rank` to call progress() or flush().
  virtual void flush(int rank) = 0;

  /// Lets the transport make progress for others; cheap. Call it whenever there is nothing else to do.
  virtual void progress() = 0;

  /// Orders this rank's loads from its window: later loads come after the remote writes that an earlier load saw,
  /// earlier loads are complete before any later put.
  virtual void sync() = 0;
};

}  // namespace eventloom
