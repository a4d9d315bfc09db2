#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/ring/ring_producer.hpp"
#include "formats/event.hpp"
#include "formats/ids.hpp"

namespace eventloom {

/// What is sent as one: all that one origin has for one slice.
struct Message {
  SliceId slice;
  std::uint32_t origin = 0;
  bool goes_on = true;
  std::uint32_t n_damage = 0;
  /// The body, in order: read where it lies, no copy up to the put for large ones. Must stay
  /// unchanged until the outbox is free() again and publish() has returned.
  std::vector<std::span<const std::byte>> body;
};

/// Cuts messages into chunks and packs the chunks into cells of one ring. A message larger than a
/// cell, or than the ring, goes in pieces as credits come; small messages share cells.
class Outbox {
 public:
  enum class BodyCrc {
    staged,  ///< of chunks that are copied anyway; the body of others must carry its own checksums
    all,
  };
  Outbox(RingProducer ring, BodyCrc body_crc);

  /// No message is under way.
  [[nodiscard]] bool free() const { return !message_; }
  /// Free, and the receiver has room for a message of `slice`.
  [[nodiscard]] bool accepts(SliceId slice);
  /// Begins a message; the outbox must be free.
  void start(Message message);
  /// Begins the notice that `origin` has ended; `end`: one past its last slice with data; `damage`:
  /// what is missing from there on, none or one record, unchanged until the outbox is free again.
  void start_end(std::uint32_t origin, SliceId end, std::span<const Damage> damage = {});
  /// Moves as much of the message under way as there are credits for; true when it moved anything.
  bool pump();
  /// Makes everything pumped so far visible to the receiver.
  void publish();
  void settle();

 private:
  struct UnderWay {
    ChunkHeader header;
    std::vector<std::span<const std::byte>> body;
    std::size_t piece = 0;
    std::size_t in_piece = 0;
  };

  bool ensure_room();
  void next_chunk();
  void put_chunk();
  void stage(std::span<const std::byte> bytes);
  void put_directly(std::span<const std::byte> bytes);
  void put_staged();
  void close_cell();

  RingProducer ring_;
  BodyCrc body_crc_;
  std::optional<UnderWay> message_;
  /// Copies of headers and small bodies, by place in the ring, unchanged until their cell is free again.
  std::vector<std::vector<std::byte>> staging_;
  std::vector<std::span<const std::byte>> chunk_;  ///< pieces of the chunk being put
  std::uint64_t cell_ = 0;                         ///< number of the open cell, or of the next
  std::uint32_t used_ = 0;                         ///< bytes of the open cell that are spoken for
  std::uint32_t staged_from_ = 0;                  ///< start of what is staged but not yet put
};

}  // namespace eventloom
