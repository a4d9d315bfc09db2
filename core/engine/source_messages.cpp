#include "core/engine/source_messages.hpp"

#include <algorithm>
#include <utility>

namespace eventloom {

SourceMessages::SourceMessages(std::vector<Outbox> outboxes, std::size_t sources, std::uint32_t most_in_flight,
                               LentSlices* lent)
    : outboxes_(std::move(outboxes)),
      pending_(outboxes_.size()),
      of_sources_(sources),
      most_in_flight_(most_in_flight),
      lent_(lent) {}

std::size_t SourceMessages::pump() {
  std::size_t moved = 0;
  const std::vector busy(outboxes_.busy().begin(), outboxes_.busy().end());  // pump() changes the set
  for (const auto b : busy) moved += pump(b) ? 1 : 0;
  in_flight_ = 0;
  for (auto& of : of_sources_) {
    of.transfers.update(outboxes_.all());
    in_flight_ += of.transfers.pending();
  }
  return moved;
}

bool SourceMessages::pump(std::size_t builder) {
  const auto& outbox = outboxes_[builder];
  const bool moved = outboxes_.pump(builder);
  const auto source = pending_[builder].source;
  if (moved && outbox.free() && source != kNoSource && !outbox.is_near()) {
    of_sources_[source].transfers.end(builder, outbox.cells());
  }
  return moved;
}

bool SourceMessages::make_room(std::size_t source) {
  const auto first = of_sources_[source].transfers.first_to_end();
  if (first) outboxes_[*first].flush();
  return first.has_value();
}

bool SourceMessages::is_full(std::size_t source) const {
  if (most_in_flight_ != 0) return in_flight_ >= most_in_flight_;
  const auto& of = of_sources_[source];
  return in_flight_ >= transfers_for(of.messages == 0 ? 0 : of.bytes / of.messages);
}

SliceId SourceMessages::first_needed(std::size_t source, SliceId otherwise) const {
  SliceId first = of_sources_[source].transfers.lowest(otherwise);
  for (const auto b : outboxes_.busy()) {
    if (pending_[b].source == source) first = std::min(first, pending_[b].slice);
  }
  return first;
}

CollectedSlice& SourceMessages::prepare(std::size_t source, std::size_t builder, SliceId slice) {
  auto& pending = pending_[builder];
  // An incomplete put may still read the buffers of the previous message.
  const auto& last = pending.memory.last();
  const bool kept = !last.data.damage.empty() || !last.clipped.empty();
  auto& collected = kept ? pending.memory.next(outboxes_[builder]) : pending.memory.last();
  collected.data.clear();
  pending.source = source;
  pending.slice = slice;
  return collected;
}

/// The copy of a clipped buffer does not outlast the next message.
bool SourceMessages::can_lend(std::size_t builder, const CollectedSlice& collected) const {
  return lent_ != nullptr && collected.clipped.empty() && lent_->can_lend(builder, collected.data.pieces);
}

void SourceMessages::send(SourceId id, std::size_t builder, bool has_more, SliceId lowest) {
  auto& pending = pending_[builder];
  const auto& collected = pending.memory.last();
  const auto& data = collected.data;
  message_.slice = pending.slice;
  message_.origin = id.value;
  message_.has_more = has_more;
  message_.n_damage = static_cast<std::uint32_t>(data.damage.size());
  message_.body.clear();
  if (message_.n_damage != 0) message_.body.push_back(std::as_bytes(std::span(data.damage)));
  auto& of = of_sources_[pending.source];
  const auto bytes = bytes_of(data.pieces);
  of.bytes += std::span(data.damage).size_bytes() + bytes;
  message_.lent_bytes = 0;
  if (can_lend(builder, collected)) {
    lent_->lend(pending.slice, id.value, data.pieces);
    message_.lent_bytes = bytes;
  } else {
    message_.body.insert(message_.body.end(), data.pieces.begin(), data.pieces.end());
  }
  ++of.messages;
  outboxes_[builder].start(message_);
  begin_transfer(builder, lowest);
}

void SourceMessages::send_gap(SourceId id, std::size_t builder, SliceRange gap, const std::vector<Damage>& damage,
                              SliceId lowest) {
  auto& kept = pending_[builder].memory.last().data.damage;
  kept = damage;
  outboxes_[builder].start_gap(id.value, gap, kept);
  begin_transfer(builder, lowest);
}

void SourceMessages::begin_transfer(std::size_t builder, SliceId lowest) {
  if (!outboxes_[builder].is_near()) {
    of_sources_[pending_[builder].source].transfers.begin(builder, lowest);
    ++in_flight_;
  }
  pump(builder);
}

bool SourceMessages::send_end(SourceId id, std::size_t builder, SliceId end, std::span<const Damage> tail) {
  if (!outboxes_[builder].free()) return false;
  outboxes_[builder].start_end(id.value, end, tail);
  outboxes_.pump(builder);
  return true;
}

}  // namespace eventloom
