#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace eventloom {

/// One-sided exchange of one rank with the windows of all ranks, itself included. One thread at a time.
class Transport {
 public:
  virtual ~Transport() = default;

  /// This rank's own window, zeroed at the start. Others write into it at any moment: read a place
  /// only to see whether it proves itself (number and checksum), after sync().
  [[nodiscard]] virtual std::span<std::byte> window() = 0;

  /// Starts to write `data` at `offset` bytes into the window of `rank`. `data` must stay unchanged
  /// until the next flush(rank). Puts to one rank reach it in any order.
  virtual void put(int rank, std::uint64_t offset, std::span<const std::byte> data) = 0;

  /// When it returns, all earlier puts to `rank` are complete at the target: whoever reads its
  /// window from now on sees them. May wait for `rank` to call progress() or flush().
  virtual void flush(int rank) = 0;

  /// Lets the transport work for others; cheap. Call it whenever there is nothing else to do.
  virtual void progress() = 0;

  /// Orders this rank's loads from its window: those that follow come after the remote writes that an earlier
  /// load saw, those that precede are done before anything that is put later.
  virtual void sync() = 0;
};

}  // namespace eventloom
