#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/transport/transport.hpp"
#include "formats/ring_layout.hpp"

namespace eventloom {

/// What proves to the receiver that all of a cell has arrived when it sees the notice of it.
enum class Proof {
  flush,     ///< nothing: the sender flushes before the notice
  checksum,  ///< checksums over every byte, which the receiver verifies before it acts
  order,     ///< the network, which delivers notices after data: in a simulation, where bodies are lengths
};

/// The sender's end of a ring: claim a cell, put into it, commit it, publish the committed cells.
class RingProducer {
 public:
  /// `ring_offset`: of the ring in the receiver's data window; `credit_offset`: of the CreditBlocks in this rank's
  /// control window. Bytes, multiples of 64. The windows must outlive the producer.
  RingProducer(Windows windows, int receiver, std::uint64_t ring_offset, std::uint64_t credit_offset,
               RingGeometry geometry);

  /// Free cells that the receiver has granted, the open one not counted.
  [[nodiscard]] std::uint32_t credits();
  /// The others, as far as this end has heard.
  [[nodiscard]] std::uint32_t cells_in_use() const {
    return static_cast<std::uint32_t>(committed_ + (open_ ? 1 : 0) - released_);
  }
  /// The receiver accepts slice `slice`, and there is an open cell or a credit. Fetches a new grant only when the last
  /// one does not suffice.
  [[nodiscard]] bool admits(std::uint64_t slice);

  /// Opens the next cell. Needs a credit and no open cell. Flushes if the place of the cell was not flushed since it
  /// was used last, a round of the ring ago.
  void claim();
  [[nodiscard]] bool has_open_cell() const { return open_; }
  /// Writes into the open cell. `data` must stay unchanged until complete_cells() includes this cell.
  void put(std::uint32_t offset, std::span<const std::byte> data);
  /// Closes the open cell, which holds `bytes` from its start, with the headers of all but the first of `n_chunks` at
  /// their end; `first`: the first header. The receiver is not notified yet.
  void commit(std::uint32_t bytes, std::uint32_t n_chunks, const ChunkHeader& first, Proof proof);
  /// Notifies the receiver of all committed cells, with one notification for all of them; flushes before it where a
  /// cell needs that. False when there were none.
  bool publish();
  /// Publishes, and completes all operations.
  void flush();

  /// The number of the open cell, as its descriptor will have it.
  [[nodiscard]] std::uint32_t open_number() const { return static_cast<std::uint32_t>(committed_ + 1); }
  /// Cells committed since the start.
  [[nodiscard]] std::uint64_t cells() const { return committed_; }
  /// Of these, the first so many are complete at the origin and at the target, notification included.
  [[nodiscard]] std::uint64_t complete_cells();
  /// The first so many have arrived: they are complete, or the receiver has released them.
  [[nodiscard]] std::uint64_t arrived_cells();

  [[nodiscard]] bool is_near() const { return windows_.data.is_near(receiver_); }
  [[nodiscard]] const RingGeometry& geometry() const { return geometry_; }

 private:
  void refresh_credit();
  [[nodiscard]] bool take_next_credit();
  [[nodiscard]] bool admitted(std::uint64_t slice) const {
    return slice < slice_limit_ && (open_ || cells_in_use() < geometry_.depth);
  }
  void notice_flushes();
  void put_descriptors(std::uint64_t from, std::uint64_t to);
  [[nodiscard]] CellDescriptor& descriptor_of(std::uint64_t cell) { return descriptors_[cell % descriptors_.size()]; }

  Windows windows_;
  int receiver_;
  std::uint64_t ring_offset_;
  std::uint64_t credit_offset_;
  RingGeometry geometry_;
  std::vector<CellDescriptor> descriptors_;  ///< sources of their puts, by place in the ring
  std::uint64_t committed_ = 0;              ///< cells, since the start
  std::uint64_t published_ = 0;
  std::uint64_t released_ = 0;
  std::uint64_t complete_ = 0;      ///< of those published: flushed since
  std::uint64_t data_flushed_ = 0;  ///< of those committed: their contents were flushed
  std::uint64_t unproven_end_ = 0;  ///< one past the last cell that needs a flush before its notice
  std::uint64_t ordered_end_ = 0;   ///< one past the last cell whose notice must come after it
  std::uint64_t round_ = 0;         ///< of the transport, as of the last look
  std::uint64_t slice_limit_ = 0;
  std::uint64_t grants_ = 0;  ///< seen
  bool open_ = false;
};

}  // namespace eventloom
