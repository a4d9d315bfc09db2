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

  /// The oldest cell not released, if it has arrived; aligned to 8 bytes. The view holds until
  /// release(). Asking again gives the same cell. Throws std::runtime_error when its descriptor does not
  /// prove itself for too long, or proves what cannot be.
  [[nodiscard]] std::optional<Cell> poll();
  /// What poll() gave does not prove itself and will be asked for again. Throws std::runtime_error
  /// when that has gone on for too long.
  void wait_for_proof();
  void release();

  /// The sender may send slices below `window`; never falls.
  void set_window(std::uint64_t window) { window_ = window; }
  /// Tells the sender of released cells and the window: when half of the ring has gathered, or,
  /// with `eager`, whenever there is anything to tell.
  void grant(bool eager);
  void settle();

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
  std::uint64_t window_ = 0;
  std::uint64_t granted_released_ = 0;
  std::uint64_t granted_window_ = 0;
  /// Source of the put; unchanged until that is flushed. Puts to one place are not ordered by MPI,
  /// so there is never more than one under way.
  CreditBlock block_{};
  bool unflushed_ = false;
};

}  // namespace eventloom
