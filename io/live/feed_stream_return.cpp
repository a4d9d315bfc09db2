#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>

#include "core/runtime/log.hpp"
#include "io/epochs/stored_hits.hpp"
#include "io/live/feed_stream.hpp"

/// Functions of FeedStream that determine what a resumed run missed, and how far the peer's clock is off.
namespace eventloom {

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

/// All hits that the feed has delivered.
std::uint64_t FeedStream::hits_received() const {
  return hits_ - hits_missed_ + counters_[Metric::hits_before_the_run];
}

/// Compares the first data of a resumed run with the earlier run. `received`: hits up to and including these data.
LiveReturn::Missed FeedStream::join(std::span<const std::byte> first, std::uint64_t received) {
  const auto header = read_epoch_buffer_header(first);
  LiveReturn::First now;
  now.counts = feed_->counts_hits();
  now.epoch = header->first_epoch;
  now.epoch_ticks = header_.base.epoch_ticks;
  now.numbered = (header_.flags & kNumbered) != 0 && feed_->wraps_after() == 0;
  if (const auto& sent = batch_.sent) {
    now.joined = PeerPlace{sent->session, static_cast<std::int64_t>(sent->hits) - static_cast<std::int64_t>(received)};
  }
  now.time = tick_of_epoch(header->epochs().end, header_.base.epoch_ticks);
  const auto stored = first.first(header->stored_bytes());
  // A damaged buffer is not an error here: the builder reports it.
  MarkerCounts others;
  (void)read_stored_hits(*header, stored, header_, others,
                         [&](Tick time, auto, auto) { now.time = std::min(now.time, time); });
  return return_.join(now);
}

/// Records the missed hits as lost in the stretch from the run's beginning to the first data.
void FeedStream::add_missed(const LiveReturn::Missed& missed, Epoch first) {
  log::warn("{}: {}", name(), missed.text);
  remarks_.push_back(missed.text);
  counters_[Metric::missing_numbers] += missed.numbers;
  if (missed.unknown) ++counters_[Metric::unknown_losses];
  hits_missed_ += missed.hits;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const Epoch n_epochs = first > begin_ ? first - begin_ : 1;
  auto left = missed.hits;
  do {
    const auto n = static_cast<std::uint32_t>(std::min(left, kMost));
    take_damage({.first_epoch = begin_, .n_epochs = n_epochs, .n_hits = n, .cause = DropCause::lost});
    left -= n;
  } while (left != 0);
}

/// Counts hits before the run. They are not part of it, unless an earlier invocation has begun the run; they are then
/// lost, since no other invocation has them.
void FeedStream::leave_before(std::uint32_t hits) {
  if (return_.continues() && hits != 0) {
    take_damage({.first_epoch = begin_, .n_epochs = 1, .n_hits = hits, .cause = DropCause::lost});
  } else {
    counters_[Metric::hits_before_the_run] += hits;
  }
}

std::vector<std::string> FeedStream::remarks() const {
  auto remarks = feed_->remarks();
  remarks.insert(remarks.end(), remarks_.begin(), remarks_.end());
  if (clock_behind_ns_ && is_far_clock(*clock_behind_ns_)) remarks.push_back(clock_remark(*clock_behind_ns_));
  return remarks;
}

/// Updates the upper limit of how far the peer's clock is behind: data arrive after they are taken, so the smallest
/// difference seen is the limit.
void FeedStream::measure_clock() {
  const auto started_ns = feed_->started_ns();
  if (started_ns == 0 || data_end_ == 0) return;
  using std::chrono::nanoseconds;
  const auto unix_time = std::chrono::system_clock::now().time_since_epoch();
  const double epoch_ns = static_cast<double>(header_.base.tick_ps) * header_.base.epoch_ticks / 1000;
  const auto since_start = std::chrono::duration_cast<nanoseconds>(unix_time).count() - started_ns;
  const double behind_ns = static_cast<double>(since_start) - static_cast<double>(data_end_) * epoch_ns;
  if (clock_behind_ns_ && static_cast<double>(*clock_behind_ns_) <= behind_ns) return;
  clock_behind_ns_ = static_cast<std::int64_t>(std::clamp(behind_ns, -0x1p62, 0x1p62));
}

std::uint64_t FeedStream::clock_difference_ns() const {
  return static_cast<std::uint64_t>(std::abs(clock_behind_ns_.value_or(0)));
}

}  // namespace eventloom
