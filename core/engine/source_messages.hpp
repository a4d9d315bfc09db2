#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/engine/outboxes.hpp"
#include "core/engine/source_data.hpp"
#include "core/engine/transfers.hpp"
#include "core/exchange/lent_slices.hpp"
#include "core/exchange/message_memory.hpp"

namespace eventloom {

/// The messages of the sources of one rank: at most one at a time per builder, and those in flight. Sources are
/// numbered as they were on this rank, from 0.
class SourceMessages {
 public:
  /// `most_in_flight`: of all sources; 0: see transfers_for(). `lent`: null if all data are sent; must outlive this
  /// object.
  SourceMessages(std::vector<Outbox> outboxes, std::size_t sources, std::uint32_t most_in_flight, LentSlices* lent);

  /// Moves messages as far as credits allow, and forgets those that have arrived; returns how many it moved.
  std::size_t pump();
  /// Makes everything moved so far visible to the builders.
  void publish() { outboxes_.publish(); }
  /// If a message of the source waits for fewer in flight: waits until the oldest of them is complete. Returns false if
  /// none can be.
  bool make_room(std::size_t source);

  [[nodiscard]] const Outboxes& outboxes() const { return outboxes_; }
  [[nodiscard]] bool accepts(std::size_t builder, SliceId slice) { return outboxes_[builder].accepts(slice); }
  /// Whether the maximum number of messages is in flight, for a source with messages as large as those of `source`.
  [[nodiscard]] bool is_full(std::size_t source) const;
  /// Total size of the messages of a source.
  [[nodiscard]] std::uint64_t bytes(std::size_t source) const { return of_sources_[source].bytes; }
  /// The messages of a source need no data before this slice; `otherwise` if there are none.
  [[nodiscard]] SliceId first_needed(std::size_t source, SliceId otherwise) const;

  /// The builder's outbox is free. Returns empty memory for the data of its next message, until the one after.
  CollectedSlice& prepare(std::size_t source, std::size_t builder, SliceId slice);
  /// Sends or lends what has been prepared for the builder. `lowest`: see Transfers::begin(); `has_more`: see Message.
  void send(SourceId id, std::size_t builder, bool has_more, SliceId lowest);
  /// Likewise, instead of data: the source has none in `gap`, which the damage contains.
  void send_gap(SourceId id, std::size_t builder, SliceRange gap, const std::vector<Damage>& damage, SliceId lowest);
  /// If the outbox is free, sends the end of a source, see Outbox::start_end(); returns whether it did.
  bool send_end(SourceId id, std::size_t builder, SliceId end, std::span<const Damage> tail);

 private:
  /// The message that an outbox is sending; owns what the outbox reads.
  struct Pending {
    std::size_t source = kNoSource;
    SliceId slice;
    MessageMemory<CollectedSlice> memory;
  };
  struct OfSource {
    Transfers transfers;
    std::uint64_t bytes = 0;
    std::uint64_t messages = 0;  ///< with data
  };
  static constexpr std::size_t kNoSource = std::numeric_limits<std::size_t>::max();

  bool pump(std::size_t builder);
  [[nodiscard]] bool can_lend(std::size_t builder, const CollectedSlice& collected) const;
  void begin_transfer(std::size_t builder, SliceId lowest);

  Outboxes outboxes_;
  std::vector<Pending> pending_;  ///< indexed by builder
  std::vector<OfSource> of_sources_;
  std::size_t most_in_flight_;
  LentSlices* lent_;
  std::size_t in_flight_ = 0;  ///< of all sources
  Message message_;
};

}  // namespace eventloom
