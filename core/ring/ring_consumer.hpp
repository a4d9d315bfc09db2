#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/ring/patience.hpp"
#include "core/transport/transport.hpp"
#include "formats/ring_layout.hpp"

namespace eventloom {

/// The receiver's end of a ring: poll for the next cell, read it in place, release it, and grant credits to the sender.
class RingConsumer {
 public:
  /// `ring_offset`: offset of the ring in this rank's data window; `credit_offset`: offset of the CreditBlocks in the
  /// sender's control window. Bytes, multiples of 64. The windows must outlive the consumer.
  RingConsumer(Windows windows, int sender, std::uint64_t ring_offset, std::uint64_t credit_offset,
               RingGeometry geometry, Patience patience = {});

  /// The oldest cell not released, if it has arrived; aligned to 8 bytes. The view is valid until release(). Repeated
  /// calls return the same cell. Throws std::runtime_error if its descriptor stays invalid for too long, or is valid
  /// but impossible.
  [[nodiscard]] std::optional<Cell> poll();
  /// Call if the contents of the cell from poll() are not valid yet; they will be checked again. Throws
  /// std::runtime_error if that has lasted too long.
  void wait_for_proof();
  void release();

  /// The window of the ring, and the range of its descriptors: the arrival of a cell changes one of them.
  [[nodiscard]] Transport& window() const { return windows_.data; }
  [[nodiscard]] std::uint64_t descriptors_begin() const { return ring_offset_; }
  [[nodiscard]] std::uint64_t descriptors_end() const { return ring_offset_ + geometry_.descriptor_bytes(); }

  [[nodiscard]] bool is_near() const { return windows_.data.is_near(sender_); }
  /// The sender may send slices below `limit`, which never decreases.
  void set_slice_limit(std::uint64_t limit) { slice_limit_ = limit; }
  /// Informs the sender of released cells and of the slice limit: when half of the ring is released or the limit has
  /// risen, or, with `eager`, whenever anything has changed. Flushes the control window every kCreditPlaces grants,
  /// unless it was flushed in the meantime.
  void grant(bool eager);
  /// Whether the sender is yet to be informed of some released cells.
  [[nodiscard]] bool owes() const { return released_ != granted_released_; }

 private:
  [[nodiscard]] Cell cell(const CellDescriptor& descriptor, std::span<const std::byte> ring) const;
  void prefetch_next(std::span<const std::byte> ring) const;

  Windows windows_;
  int sender_;
  std::uint64_t ring_offset_;
  std::uint64_t credit_offset_;
  RingGeometry geometry_;
  Patience patience_;
  std::uint64_t released_ = 0;
  std::uint64_t slice_limit_ = 0;
  std::uint64_t granted_released_ = 0;
  std::uint64_t granted_slice_limit_ = 0;
  struct Grant {
    CreditBlock block;        ///< source of the put; unchanged until that is flushed
    std::uint64_t round = 0;  ///< the transport's round when it was put
  };
  std::array<Grant, kCreditPlaces> grants_{};  ///< indexed by place; MPI does not order puts to one place
  std::uint64_t n_grants_ = 0;
};

}  // namespace eventloom
