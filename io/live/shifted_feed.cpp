#include "io/live/shifted_feed.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/runtime/log.hpp"
#include "io/epochs/stored_hits.hpp"
#include "io/live/damage_records.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kMostUndecoded = std::size_t{64} << 20;  // maximum bytes that wait for the header
constexpr Epoch kNever = std::numeric_limits<Epoch>::max();

}  // namespace

ShiftedFeed::ShiftedFeed(std::unique_ptr<LiveFeed> feed, const SourceUri& uri)
    : feed_(std::move(feed)), shift_(uri, feed_->header()), base_(feed_->header().base) {}

StreamHeader ShiftedFeed::fix_header() {
  auto header = feed_->fix_header();
  begin(header);
  return header;
}

void ShiftedFeed::begin(const StreamHeader& header) {
  if (std::exchange(begun_, true)) return;
  header_ = header;
  encoder_.emplace(header.source, header.base.epoch_ticks, 0, EpochBufferEncoder::Limits{});
  if (shift_.fits(header.payload)) return;
  log::error("{}: system= cannot be set: the length of a hit's payload depends on its system; they stay as they are",
             name());
  ++anomalies_;
  shift_.keep_systems();
}

SourceCounts ShiftedFeed::counts() const {
  auto counts = feed_->counts();
  add_other_markers_of_source(counts.counters, left_out_);
  return counts;
}

std::int64_t ShiftedFeed::started_ns() const {
  constexpr std::int64_t kPerNs = 1000;
  __extension__ using SignedWide = __int128;
  const auto started = feed_->started_ns();
  if (started == 0) return 0;
  return started -
         static_cast<std::int64_t>(SignedWide{shift_.offset()} * static_cast<std::int64_t>(base_.tick_ps) / kPerNs);
}

/// An epoch of the feed may lie in two of this one.
void ShiftedFeed::safe_before(Epoch epoch) {
  if (epoch >= kForever) return feed_->safe_before(epoch);
  const Epoch before = unshifted(epoch);
  feed_->safe_before(before - std::min(before, Epoch(1)));
}

/// If the feed itself holds data back, the hits that wait here are released together with its epochs.
bool ShiftedFeed::settle(Epoch end) {
  if (feed_->settle(unshifted(end))) return true;
  if (waiting_.empty() || epoch_of(waiting_.front().time, base_.epoch_ticks) >= end) return false;
  settle_to_ = end;
  return true;
}

void ShiftedFeed::take(FeedBatch& batch) {
  batch.sent.reset();
  if (!begun_ && feed_->header_known()) begin(feed_->header());
  if (begun_ || raw_.buffers.size() < kMostUndecoded) feed_->take(raw_);
  batch.first_epoch = raw_.first_epoch ? std::optional(shifted(*raw_.first_epoch, false)) : std::nullopt;
  if (!batch.first_epoch && !raw_.buffers.empty()) {
    batch.first_epoch = shifted(read_epoch_buffer_header(raw_.buffers)->first_epoch, false);
  }
  batch.seen_end = shifted(std::max(raw_.seen_end, read_to_), true);
  if (!begun_) return;
  const auto damage = static_cast<std::ptrdiff_t>(batch.damage.size());
  take_buffers(batch);
  for (const auto& lost : raw_.damage) batch.damage.push_back(shifted(lost));
  std::stable_sort(batch.damage.begin() + damage, batch.damage.end(),
                   [](const Damage& a, const Damage& b) { return a.first_epoch < b.first_epoch; });
  batch.complete = std::max(shifted(raw_.complete, false), std::exchange(settle_to_, Epoch()));
  batch.ended = raw_.ended;
  release(batch.ended ? kNever : batch.complete, batch);
  if (raw_.sent) batch.sent = PeerCount{raw_.sent->session, raw_.sent->hits - waiting_.size()};
  raw_.clear();
}

void ShiftedFeed::take_buffers(FeedBatch& batch) {
  for (std::span<const std::byte> bytes = raw_.buffers; !bytes.empty();) {
    const auto header = read_epoch_buffer_header(bytes);
    if (header->first_epoch < read_to_) release(kNever, batch);  // the peer has jumped back
    take_buffer(*header, bytes.first(header->stored_bytes()), batch);
    read_to_ = header->epochs().end;
    bytes = bytes.subspan(header->stored_bytes());
  }
}

void ShiftedFeed::take_buffer(const EpochBufferHeader& header, std::span<const std::byte> stored, FeedBatch& batch) {
  const auto before = static_cast<std::ptrdiff_t>(waiting_.size());
  Damage lost{.first_epoch = shifted(header.first_epoch, false), .file_offset = header.stream_offset};
  const auto defect = read_stored_hits(header, stored, header_, left_out_, [&](Tick time, auto channel, auto payload) {
    if (const auto at = shift_.time(time)) {
      waiting_.push_back({*at, shift_.channel(channel), {payload.begin(), payload.end()}});
    } else {
      ++lost.n_hits;
    }
  });
  if (defect) {
    waiting_.erase(waiting_.begin() + before, waiting_.end());
    log::error("{}: {}; its {} hits are dropped", name(), defect->reason, header.n_hits);
    lost.n_hits = header.n_hits;
    lost.n_epochs = shifted(header.epochs().end, true) - lost.first_epoch;
  }
  lost.cause = defect ? defect->cause : DropCause::untimed;
  if (lost.n_hits != 0) batch.damage.push_back(lost);
  std::stable_sort(waiting_.begin() + before, waiting_.end(),
                   [](const Hit& a, const Hit& b) { return a.time < b.time; });
}

/// Encodes the hits before epoch `end` into buffers.
void ShiftedFeed::release(Epoch end, FeedBatch& batch) {
  const auto behind = std::ranges::find_if(
      waiting_, [&](const Hit& hit) { return end != kNever && epoch_of(hit.time, base_.epoch_ticks) >= end; });
  for (auto hit = waiting_.begin(); hit != behind; ++hit) {
    if (encoder_->must_close_before(hit->time)) encoder_->close(batch.buffers);
    encoder_->add(hit->time, hit->channel, hit->payload);
  }
  encoder_->close(batch.buffers);
  waiting_.erase(waiting_.begin(), behind);
}

/// The epoch that contains the shifted beginning of `epoch`; with `up`, the first epoch that begins at or after it.
Epoch ShiftedFeed::shifted(Epoch epoch, bool up) const {
  __extension__ using SignedWide = __int128;
  const SignedWide ticks = base_.epoch_ticks;
  const SignedWide begin = SignedWide{epoch.value} * ticks + shift_.offset() + (up ? ticks - 1 : 0);
  if (epoch == kNever || begin / ticks >= SignedWide{kNever.value}) return kNever;
  return begin < 0 ? 0 : Epoch(static_cast<std::uint64_t>(begin / ticks));
}

/// The feed's first epoch whose shifted beginning is not before `epoch`.
Epoch ShiftedFeed::unshifted(Epoch epoch) const {
  __extension__ using SignedWide = __int128;
  const SignedWide ticks = base_.epoch_ticks;
  const SignedWide begin = SignedWide{epoch.value} * ticks - shift_.offset();
  if (begin / ticks >= SignedWide{kNever.value}) return kNever;
  return begin < 0 ? 0 : Epoch(static_cast<std::uint64_t>((begin + ticks - 1) / ticks));
}

Damage ShiftedFeed::shifted(Damage damage) const {
  const auto end = epochs_of(damage).end;
  damage.first_epoch = shifted(damage.first_epoch, false);
  if (damage.n_epochs != 0) damage.n_epochs = shifted(end, true) - damage.first_epoch;
  return damage;
}

std::unique_ptr<LiveFeed> shifted(std::unique_ptr<LiveFeed> feed, const SourceUri& uri) {
  if (!uri.has("system") && !uri.has("offset")) return feed;
  return std::make_unique<ShiftedFeed>(std::move(feed), uri);
}

}  // namespace eventloom
