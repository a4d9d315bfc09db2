#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/transport/transport.hpp"
#include "formats/ring_layout.hpp"

namespace eventloom {

/// Proof for the receiver that a cell has arrived completely when it sees the notice.
enum class Proof {
  flush,     ///< the notice itself: the sender flushes before it
  checksum,  ///< checksums over every byte, which the receiver verifies first
  order,     ///< the network, which delivers notices after data: only in simulations, where bodies are lengths
};

/// The sender's end of a ring: claim a cell, put into it, commit it, publish the committed cells.
class RingProducer {
 public:
  /// `ring_offset`: offset of the ring in the receiver's data window; `credit_offset`: offset of the CreditBlocks in
  /// this rank's control window. Bytes, multiples of 64. The windows must outlive the producer.
  RingProducer(Windows windows, int receiver, std::uint64_t ring_offset, std::uint64_t credit_offset,
               RingGeometry geometry);

  /// Limits the incomplete cells to `cells`, at most (and by default) the depth of the ring, so that the caller can
  /// reuse the memory that older cells were put from.
  void limit_incomplete(std::uint32_t cells) { most_incomplete_ = cells; }

  /// Free cells that the receiver has granted, excluding the open one.
  [[nodiscard]] std::uint32_t credits();
  /// Cells that are not free, as known at this end.
  [[nodiscard]] std::uint32_t cells_in_use() const {
    return static_cast<std::uint32_t>(committed_ + (open_ ? 1 : 0) - released_);
  }
  /// Whether the receiver accepts slice `slice`, and there is an open cell or has_room(). If the receiver is near,
  /// fetches a new grant only if the last one does not suffice.
  [[nodiscard]] bool admits(std::uint64_t slice);
  /// Whether the next cell can be opened: there is a credit and, to another host, no need for a flush.
  [[nodiscard]] bool has_room() { return credits() > 0 && !must_wait(); }
  /// Whether too many cells are incomplete to open the next one without a flush.
  [[nodiscard]] bool needs_flush() { return committed_ >= complete_cells() + most_incomplete_; }

  /// Opens the next cell. Requires has_room() and no open cell. Flushes if needs_flush().
  void claim();
  [[nodiscard]] bool has_open_cell() const { return open_; }
  /// Writes into the open cell. `data` must stay unchanged until complete_cells() includes this cell.
  void put(std::uint32_t offset, std::span<const std::byte> data);
  /// Closes the open cell, which holds `bytes` from its start, with the headers of all but the first of `n_chunks` at
  /// their end; `first`: the first header. The receiver is not notified yet.
  void commit(std::uint32_t bytes, std::uint32_t n_chunks, const ChunkHeader& first, Proof proof);
  /// Notifies the receiver of all committed cells with a single notification, after a flush if any of them needs one.
  /// Returns false if there were none.
  bool publish();
  /// Publishes, and completes all operations.
  void flush();

  /// The number that the open cell's descriptor will have.
  [[nodiscard]] std::uint32_t open_number() const { return static_cast<std::uint32_t>(committed_ + 1); }
  /// Cells committed since the start.
  [[nodiscard]] std::uint64_t cells() const { return committed_; }
  /// Number of leading cells that are complete at the origin and at the target, including their notification: they were
  /// flushed, or a receiver on another host has released them after checking their contents.
  [[nodiscard]] std::uint64_t complete_cells();

  [[nodiscard]] bool is_near() const { return windows_.data.is_near(receiver_); }
  [[nodiscard]] const RingGeometry& geometry() const { return geometry_; }

 private:
  void refresh_credit();
  [[nodiscard]] bool take_next_credit();
  [[nodiscard]] bool admitted(std::uint64_t slice) const {
    return slice < slice_limit_ && (open_ || cells_in_use() < geometry_.depth);
  }
  /// Whether to wait for credits, which also complete cells, instead of flushing: a flush to another host blocks this
  /// rank until all its transfers to the receiver have arrived.
  [[nodiscard]] bool must_wait() { return !is_near() && needs_flush(); }
  void notice_flushes();
  void put_descriptors(std::uint64_t from, std::uint64_t to);
  [[nodiscard]] CellDescriptor& descriptor_of(std::uint64_t cell) { return descriptors_[cell % descriptors_.size()]; }

  Windows windows_;
  int receiver_;
  std::uint64_t ring_offset_;
  std::uint64_t credit_offset_;
  RingGeometry geometry_;
  std::uint64_t most_incomplete_;
  std::vector<CellDescriptor> descriptors_;  ///< sources of their puts, by place in the ring
  std::uint64_t committed_ = 0;              ///< cells, since the start
  std::uint64_t published_ = 0;
  std::uint64_t released_ = 0;
  std::uint64_t complete_ = 0;      ///< published cells flushed since
  std::uint64_t data_flushed_ = 0;  ///< committed cells whose contents were flushed
  std::uint64_t unproven_end_ = 0;  ///< one past the last cell that needs a flush before its notice
  std::uint64_t ordered_end_ = 0;   ///< one past the last cell whose notice must come after it
  std::uint64_t round_ = 0;         ///< the transport's round when last checked
  std::uint64_t slice_limit_ = 0;
  std::uint64_t grants_ = 0;  ///< number of the last grant seen
  bool open_ = false;
};

}  // namespace eventloom
