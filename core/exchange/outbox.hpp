#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/ring/ring_producer.hpp"
#include "core/runtime/metrics.hpp"
#include "formats/event.hpp"
#include "formats/ids.hpp"
#include "formats/slice_range.hpp"

namespace eventloom {

/// The unit of sending: everything that one origin has for one slice.
struct Message {
  SliceId slice;
  std::uint32_t origin = 0;
  bool has_more = true;
  std::uint32_t n_damage = 0;
  /// The body, in order. Large pieces are put in place, without a copy. Must stay unchanged until the outbox is free()
  /// again and its cells up to then are complete, see complete_cells().
  std::vector<std::span<const std::byte>> body;
  /// Size of the data if they are lent, see LentSlices: the body is then the damage alone.
  std::uint64_t lent_bytes = 0;
};

/// The total size of pieces of memory.
std::uint64_t bytes_of(std::span<const std::span<const std::byte>> pieces);

/// Pieces of a body below this size are copied, and joined with their neighbours; a separate put pays only above it.
inline constexpr std::size_t kCopiedBelow = 4096;

/// Maximum number of cells whose copies an outbox keeps: 1 MiB in total, or just over half a ring if that is more, as
/// receivers grant half a ring at a time. Beyond it, an outbox flushes (same host) or waits for credits (another host).
constexpr std::uint32_t most_staged_cells(const RingGeometry& geometry) {
  constexpr std::uint32_t kBytes = 1U << 20;
  return std::min(std::max(kBytes / geometry.cell_bytes, geometry.depth / 2 + 1), geometry.depth);
}

/// Cuts messages into chunks and packs the chunks into cells of one ring. A message larger than a cell, or than the
/// ring, goes in pieces as credits arrive; small messages share cells.
class Outbox {
 public:
  /// Which bodies get a checksum, and what proves to the receiver that they have arrived.
  enum class BodyCrc {
    /// Damage and chunks that are copied anyway; other bodies must carry their own checksums. Each notice comes after a
    /// flush, which within a host costs less than the checksums.
    staged,
    all,   ///< the checksums are the proof
    none,  ///< only what is copied: for simulations, where other bodies exist as lengths and arrive before their notice
  };
  Outbox(RingProducer ring, BodyCrc body_crc);

  /// No message is in flight.
  [[nodiscard]] bool free() const { return !busy_; }
  /// Free, and the receiver has room for a message of `slice`.
  [[nodiscard]] bool accepts(SliceId slice);
  /// Begins a message; the outbox must be free. Keeps a list of the body's pieces, not `message`.
  void start(const Message& message);
  /// Begins the notice that `origin` has ended; `end`: one past its last slice with data; `damage`: data missing after
  /// that, none or one record, unchanged until the outbox is free again.
  void start_end(std::uint32_t origin, SliceId end, std::span<const Damage> damage = {});
  /// Begins the notice that `origin` has nothing for the slices of `gap`; `damage`: contains all of them, none or one
  /// record, unchanged until the outbox is free again.
  void start_gap(std::uint32_t origin, SliceRange gap, std::span<const Damage> damage = {});
  /// Moves as much of the message in flight as credits allow; returns whether it moved anything.
  bool pump();
  /// Makes everything pumped so far visible to the receiver. Waits only for bodies without a checksum.
  void publish();
  /// Publishes, and completes everything.
  void flush();
  /// Flushes unless everything is complete. Afterwards the buffers of the last message may change.
  void settle() {
    if (complete_cells() < cells()) flush();
  }
  /// Cells used since the start, including the open one. For complete_cells(), see RingProducer.
  [[nodiscard]] std::uint64_t cells() const { return ring_.cells() + (ring_.has_open_cell() ? 1 : 0); }
  [[nodiscard]] bool is_near() const { return ring_.is_near(); }
  [[nodiscard]] std::uint64_t complete_cells() { return ring_.complete_cells(); }

  /// Cells of the ring known not to be released by the receiver, and all cells of the ring.
  [[nodiscard]] std::uint32_t cells_in_use() const { return ring_.cells_in_use(); }
  [[nodiscard]] std::uint32_t ring_depth() const { return ring_.geometry().depth; }
  /// Counters of Account::exchange: what has been moved so far.
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  struct Pending {
    ChunkHeader header;
    std::vector<std::span<const std::byte>> body;
    std::size_t piece = 0;
    std::size_t in_piece = 0;
    std::uint64_t gap_end = 0;
  };

  struct Staging {
    std::vector<std::byte> bodies;   ///< a whole cell, once it contains a small body; others are not copied
    std::vector<std::byte> headers;  ///< all except the first
  };

  Pending& begin();
  bool ensure_room();
  [[nodiscard]] std::int64_t room() const;
  void next_chunk();
  void put_chunk();
  void pad();
  void add_header();
  void stage(std::span<const std::byte> bytes);
  void put_directly(std::span<const std::byte> bytes);
  void put_staged();
  void close_cell();

  RingProducer ring_;
  BodyCrc body_crc_;
  Pending message_;
  bool busy_ = false;  ///< message_ is in flight
  /// Copies of headers and small bodies, one block for each cell that is not known to be complete, indexed by its
  /// number modulo most_staged_cells().
  std::vector<Staging> staging_;
  std::vector<std::span<const std::byte>> chunk_;  ///< pieces of the chunk being put
  Staging* open_ = nullptr;                        ///< belongs to the open cell
  ChunkHeader first_header_;                       ///< belongs to the open cell
  std::uint32_t n_chunks_ = 0;                     ///< number of chunks in the open cell
  Proof proof_ = Proof::flush;                     ///< proof that the open cell has arrived
  std::uint32_t used_ = 0;                         ///< bytes reserved in the open cell
  std::uint32_t staged_from_ = 0;                  ///< start of the staged bytes not yet put
  std::uint32_t staged_to_ = 0;                    ///< their end, without padding after it
  Counters counters_;
};

}  // namespace eventloom
