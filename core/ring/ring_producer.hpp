#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/transport/transport.hpp"
#include "formats/ring_layout.hpp"

namespace eventloom {

/// The sender's end of a ring: claim a cell, put into it, commit it, publish the committed cells.
class RingProducer {
 public:
  /// `ring_offset`: of the ring in the receiver's window; `credit_offset`: of the CreditBlock in
  /// this rank's. Bytes, multiples of 64. The transport must outlive the producer.
  RingProducer(Transport& transport, int receiver, std::uint64_t ring_offset, std::uint64_t credit_offset,
               RingGeometry geometry);

  /// Free cells that the receiver has granted, the open one not counted.
  [[nodiscard]] std::uint32_t credits();
  /// The others, as far as this end has heard.
  [[nodiscard]] std::uint32_t cells_in_use() const {
    return static_cast<std::uint32_t>(committed_ + (open_ ? 1 : 0) - released_);
  }
  /// The receiver accepts slices below this number. May fetch a new grant.
  [[nodiscard]] std::uint64_t slice_limit();

  /// Opens the next cell. Needs a credit and no open cell.
  void claim();
  [[nodiscard]] bool has_open_cell() const { return open_; }
  /// Writes into the open cell. `data` must stay unchanged until publish() or flush() returns.
  void put(std::uint32_t offset, std::span<const std::byte> data);
  /// Closes the open cell, which holds `bytes` from its start, with the headers of all but the first of `n_chunks` at
  /// their end; `first`: the first header. The receiver is not notified yet.
  void commit(std::uint32_t bytes, std::uint32_t n_chunks, const ChunkHeader& first);
  /// Notifies the receiver of all committed cells: one flush and one notification for all of them. False when there
  /// were none.
  bool publish();
  /// Completes all operations, including the notification. For when there is nothing else to do.
  void flush();

  [[nodiscard]] const RingGeometry& geometry() const { return geometry_; }

 private:
  void refresh_credit();
  void put_descriptors(std::uint64_t from, std::uint64_t to);
  [[nodiscard]] CellDescriptor& descriptor_of(std::uint64_t cell) { return descriptors_[cell % descriptors_.size()]; }

  Transport& transport_;
  int receiver_;
  std::uint64_t ring_offset_;
  std::uint64_t credit_offset_;
  RingGeometry geometry_;
  /// Sources of the puts of descriptors, cell n at n % (2 * depth). MPI reads them until a flush: cell n is
  /// put again in place of n - 2 * depth, whose put was flushed when n - depth was published.
  std::vector<CellDescriptor> descriptors_;
  std::uint64_t committed_ = 0;  ///< cells, since the start
  std::uint64_t published_ = 0;
  std::uint64_t released_ = 0;
  std::uint64_t slice_limit_ = 0;
  CreditBlock credit_{};  ///< the last valid one
  bool open_ = false;
  bool unflushed_ = false;
};

}  // namespace eventloom
