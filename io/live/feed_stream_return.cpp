#include <algorithm>
#include <limits>

#include "core/runtime/log.hpp"
#include "io/epochs/stored_hits.hpp"
#include "io/live/feed_stream.hpp"

/// Functions of FeedStream that determine what a resumed run missed.
namespace eventloom {

namespace {

/// The place of a peer before the first data received of it.
PeerPlace place_before(const PeerCount& sent, std::uint64_t received) {
  return {sent.session, static_cast<std::int64_t>(sent.hits) - static_cast<std::int64_t>(received)};
}

}  // namespace

/// Hits in a batch, including lost ones.
std::uint64_t FeedStream::hits_in(const FeedBatch& batch) {
  std::uint64_t hits = 0;
  std::span<const std::byte> rest(batch.buffers);
  while (const auto header = read_epoch_buffer_header(rest)) {
    hits += header->n_hits;
    rest = rest.subspan(header->stored_bytes());
  }
  for (const auto& damage : batch.damage) hits += damage.n_hits;
  return hits;
}

std::optional<PeerPlace> FeedStream::place_so_far() const {
  if (positions_.begun() || !batch_.sent) return std::nullopt;
  return place_before(*batch_.sent, account_.hits_received());
}

/// Compares the first data of a resumed run with the earlier run. `received`: hits up to and including these data.
LiveReturn::Missed FeedStream::join(std::span<const std::byte> first, std::uint64_t received) {
  const auto header = read_epoch_buffer_header(first);
  LiveReturn::First now;
  now.counts = feed_->counts_hits();
  now.epoch = header->first_epoch;
  now.epoch_ticks = header_.base.epoch_ticks;
  now.numbered = shows_missing_numbers();
  if (batch_.sent) now.joined = place_before(*batch_.sent, received);
  now.time = tick_of_epoch(header->epochs().end, header_.base.epoch_ticks);
  const auto stored = first.first(header->stored_bytes());
  // A damaged buffer is not an error here: the builder reports it.
  MarkerCounts others;
  (void)read_stored_hits(*header, stored, header_, others,
                         [&](Tick time, auto, auto) { now.time = std::min(now.time, time); });
  return return_.join(now);
}

/// Likewise by the count that a resumed peer states before it has sent data, as in a mark. `received`: hits so far.
LiveReturn::Missed FeedStream::join_without_data(std::uint64_t received) {
  LiveReturn::First now;
  now.counts = feed_->counts_hits();
  now.joined = place_before(*batch_.sent, received);
  return return_.join(now);
}

bool FeedStream::shows_missing_numbers() const { return (header_.flags & kNumbered) != 0 && feed_->wraps_after() == 0; }

void FeedStream::note_last(const HeldBuffers& chunk) {
  if (chunk.buffers.empty() || !shows_missing_numbers()) return;
  const auto stored = std::span(chunk.bytes).subspan(chunk.buffers.back().offset);
  const auto whole = stored.first(read_epoch_buffer_header(stored)->stored_bytes());
  last_.assign(whole.begin(), whole.end());
}

/// A run that is stopped may end in the middle of a slice: what its source sends of it afterwards is not in the run.
void FeedStream::note_stop() {
  const Epoch end = positions_.run().end;
  if (last_.empty() || end == std::numeric_limits<Epoch>::max()) return;
  Tick next = 0;
  MarkerCounts others;
  (void)read_stored_hits(*read_epoch_buffer_header(last_), last_, header_, others,
                         [&](Tick time, auto, auto) { next = std::max(next, time + 1); });
  if (next < tick_of_epoch(end, header_.base.epoch_ticks)) return_.note_stop(next, end);
}

void FeedStream::note_missed(const LiveReturn::Missed& missed) {
  log::warn("{}: {}", name(), missed.text);
  remarks_.push_back(missed.text);
  account_[Metric::missing_numbers] += missed.numbers;
  if (missed.unknown) ++account_[Metric::unknown_losses];
}

/// Records the missed hits as lost in the stretch from the run's beginning to the first data; a missing number is a
/// hit.
void FeedStream::add_missed(const LiveReturn::Missed& missed, Epoch first) {
  note_missed(missed);
  auto left = missed.hits + missed.numbers;
  account_.note_missed(left);
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const Epoch begin = positions_.run().begin;
  const Epoch n_epochs = first > begin ? first - begin : 1;
  do {
    const auto n = static_cast<std::uint32_t>(std::min(left, kMost));
    take_damage({.first_epoch = begin, .n_epochs = n_epochs, .n_hits = n, .cause = DropCause::lost});
    left -= n;
  } while (left != 0);
}

/// Counts hits before the run. They are not part of it, unless an earlier invocation has begun the run; they are then
/// lost, since no other invocation has them.
void FeedStream::leave_before(std::uint32_t hits) {
  if (return_.continues() && hits != 0) {
    take_damage({.first_epoch = positions_.run().begin, .n_epochs = 1, .n_hits = hits, .cause = DropCause::lost});
  } else {
    account_[Metric::hits_before_the_run] += hits;
  }
}

std::vector<std::string> FeedStream::remarks() const {
  auto remarks = feed_->remarks();
  remarks.insert(remarks.end(), remarks_.begin(), remarks_.end());
  if (const auto behind = clock_.behind_ns(); behind && is_far_clock(*behind)) remarks.push_back(clock_remark(*behind));
  return remarks;
}

}  // namespace eventloom
