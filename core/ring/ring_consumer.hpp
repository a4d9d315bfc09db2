#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/ring/patience.hpp"
#include "core/transport/transport.hpp"
#include "formats/ring_layout.hpp"

namespace eventloom {

/// The receiver's end of a ring: poll for the next cell, read it in place, release it, and grant
/// credits to the sender.
class RingConsumer {
 public:
  /// `ring_offset`: of the ring in this rank's window; `credit_offset`: of the CreditBlock in the
  /// sender's. Bytes, multiples of 64. The transport must outlive the consumer.
  RingConsumer(Transport& transport, int sender, std::uint64_t ring_offset, std::uint64_t credit_offset,
               RingGeometry geometry, Patience patience = {});

  /// The oldest cell not released, if it has arrived; aligned to 8 bytes. The view is valid until release(). Repeated
  /// calls return the same cell. Throws std::runtime_error when its descriptor stays invalid for too long, or is valid
  /// but impossible.
  [[nodiscard]] std::optional<Cell> poll();
  /// The contents of the cell from poll() are not valid yet and will be checked again. Throws std::runtime_error when
  /// that has lasted too long.
  void wait_for_proof();
  void release();

  /// The sender may send slices below `limit`; never falls.
  void set_slice_limit(std::uint64_t limit) { slice_limit_ = limit; }
  /// Informs the sender of released cells and of the slice limit: when half of the ring is released, or, with `eager`,
  /// whenever there is news.
  void grant(bool eager);
  void flush();

 private:
  [[nodiscard]] Cell cell(const CellDescriptor& descriptor, std::span<const std::byte> ring) const;
  void prefetch_next(std::span<const std::byte> ring) const;

  Transport& transport_;
  int sender_;
  std::uint64_t ring_offset_;
  std::uint64_t credit_offset_;
  RingGeometry geometry_;
  Patience patience_;
  std::uint64_t released_ = 0;
  std::uint64_t slice_limit_ = 0;
  std::uint64_t granted_released_ = 0;
  std::uint64_t granted_slice_limit_ = 0;
  /// Source of the put; unchanged until that is flushed. MPI does not order puts to one place, so at most one is under
  /// way.
  CreditBlock block_{};
  bool unflushed_ = false;
};

}  // namespace eventloom
