#include "io/live/feed_stream.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <thread>
#include <utility>

#include "core/runtime/log.hpp"
#include "formats/clip_buffer.hpp"
#include "io/live/damage_records.hpp"

namespace eventloom {

namespace {

/// Memory of up to this size is reused for the next chunk.
constexpr std::size_t kSpareBytes = std::size_t{1} << 20;
/// Data that take up more than an eighth of the memory are worth releasing, even at the cost of a copy.
constexpr std::size_t kCrowdedShare = 8;
/// Memory that a held epoch buffer occupies.
std::size_t held_bytes(const EpochBufferHeader& header) { return header.stored_bytes() + sizeof(IndexEntry); }
std::size_t held_bytes(const HeldBuffers& chunk) {
  return chunk.bytes.capacity() + chunk.buffers.size() * sizeof(IndexEntry);
}

/// Longest wait for the feed's remaining data at the end of a run, and the polling interval.
constexpr std::chrono::seconds kLongestRest{1};
constexpr std::chrono::milliseconds kLookForRest{1};
/// Maximum distance between sources at the start of a run. If files are served, for example, it may exceed the distance
/// between successive data of one source.
constexpr double kMostApart_s = 3600;

/// Number of epochs in this time span; unlimited for 0, and for event numbers, which have no duration.
Epoch epochs_in(double seconds, const StreamHeader& header) {
  if (seconds == 0 || (header.flags & kNumbered) != 0) return std::numeric_limits<Epoch>::max();
  return static_cast<Epoch>(std::min(seconds * epochs_per_second(header.base), 0x1p62));
}

}  // namespace

FeedStream::FeedStream(std::unique_ptr<LiveFeed> feed, Settings settings)
    : feed_(std::move(feed)),
      settings_(std::move(settings)),
      header_(feed_->header()),
      steps_(epochs_in(settings_.most_jump_s, header_)) {}

LivePeer FeedStream::peer() const {
  const bool begins = (first_epoch_ && steps_.is_placed()) || begins_;
  const bool optional = (header_.flags & kOptional) != 0;
  return {.known = drained() || optional || (begins && feed_->header_known()),
          .connected = feed_->is_connected(),
          .joined = joined_,
          .started_ns = feed_->started_ns(),
          .clock_behind_ns = clock_behind_ns_,
          .wraps_after = feed_->wraps_after()};
}

LiveProgress FeedStream::progress() const {
  return {.watermark = complete_,
          .peer_watermark = peer_watermark_,
          .seen_end = std::max(data_end_, seen_end_),
          .aside = steps_.aside(),
          .listens = listens(),
          .drained = drained(),
          .late_passed = late_passed_};
}

void FeedStream::fix_header() {
  header_ = feed_->fix_header();
  if (!settings_.record.empty()) recording_.emplace(settings_.record, header_, name());
}

/// Processes the received data again, since only now the positions of the other sources are known.
void FeedStream::begin_at(Epoch epoch) {
  begun_ = true;
  begin_ = closed_ = epoch;
  const auto apart_s = settings_.most_jump_s == 0 ? 0 : std::max(settings_.most_jump_s, kMostApart_s);
  steps_.begin_at(epoch, epochs_in(apart_s, header_));
  auto chunks = std::exchange(chunks_, {});
  std::vector<Damage> damage(damage_.begin(), damage_.end());
  const Epoch peer_watermark = peer_watermark_;
  LiveReturn::Missed missed;
  const Epoch first = first_epoch_.value_or(epoch);
  if (return_.awaits_first() && !chunks.empty()) missed = join(chunks.front().bytes, hits_received());
  restart();
  for (auto& chunk : chunks) {
    const auto behind = std::ranges::find_if(damage, [&](const Damage& d) { return d.first_epoch >= chunk.end(); });
    FeedBatch again;
    again.buffers = std::move(chunk.bytes);
    again.damage.assign(damage.begin(), behind);
    damage.erase(damage.begin(), behind);
    take_again(std::move(again));
  }
  FeedBatch rest;
  rest.damage = std::move(damage);
  rest.complete = peer_watermark;
  rest.ended = ended_ || drained_;
  take_again(std::move(rest));
  if (missed.any()) add_missed(missed, first);
  return_.note_place(batch_.sent, hits_);
  feed_->begin_at(epoch);
}

void FeedStream::expect(Epoch epoch) {
  steps_.expect(epoch);
  if (epoch != std::numeric_limits<Epoch>::max()) feed_->others_at(epoch);
}

void FeedStream::take_again(FeedBatch batch) {
  steps_.take_out(batch, closed_);
  if (recording_) recording_->add(batch.buffers, batch.damage);
  for (const auto& lost : batch.damage) take_damage(lost);
  take_buffers(std::move(batch.buffers));
  peer_watermark_ = complete_ = batch.complete;
}

/// Resets the state to that before any data were taken.
void FeedStream::restart() {
  chunks_.clear();
  damage_.clear();
  held_bytes_ = 0;
  hits_ = 0;
  dead_epochs_ = 0;
  dropped_ = {};
  used_end_ = data_end_ = peer_watermark_ = complete_ = 0;
  first_epoch_.reset();
}

/// Whether data are taken from the feed. Until the run has begun nothing is dropped, since it may have to be recorded.
bool FeedStream::listens() const {
  return !drained() && (!is_full() || starved() || (settings_.drop_when_full && begun_));
}

std::size_t FeedStream::receive() {
  if (!listens()) return 0;
  batch_.clear();
  batch_.buffers = std::move(spare_);
  batch_.buffers.clear();
  feed_->take(batch_);
  const std::size_t bytes = batch_.buffers.size();
  if (steps_.take_out(batch_, closed_)) {
    counters_[Metric::hits_before_the_run] += hits_;
    restart();
  }
  if (begun_ && return_.awaits_first() && !batch_.buffers.empty()) {
    const auto missed = join(batch_.buffers, hits_received() + hits_in(batch_));
    if (missed.any()) add_missed(missed, read_epoch_buffer_header(batch_.buffers)->first_epoch);
  }
  const bool moved = is_news(batch_);
  for (const auto& damage : batch_.damage) take_damage(damage);
  if (recording_ && begun_) recording_->add(batch_.buffers, batch_.damage);
  take_buffers(std::move(batch_.buffers));
  take_progress();
  if (bytes != 0) measure_clock();
  if (begun_) return_.note_place(batch_.sent, hits_);
  return moved ? bytes + 1 : 0;
}

/// Whether the batch shows that the peer has sent more. Data delivered on behalf of settle() were received earlier.
bool FeedStream::is_news(const FeedBatch& batch) const {
  if (batch.ended || batch.seen_end > seen_end_) return true;
  if (settled_ > peer_watermark_) return false;
  return !batch.buffers.empty() || !batch.damage.empty() || batch.complete > peer_watermark_;
}

/// Takes the feed's progress. If the run has stopped the feed, the peer may have more data, so the stream is drained
/// rather than ended.
void FeedStream::take_progress() {
  peer_watermark_ = std::max(peer_watermark_, batch_.complete);
  complete_ = std::max(complete_, peer_watermark_);
  seen_end_ = batch_.seen_end;
  begins_ = batch_.first_epoch;
  (finishing_ ? drained_ : ended_) = batch_.ended;
  feed_ended_ = batch_.ended;
}

void FeedStream::finish() {
  finishing_ = true;
  feed_->stop();
}

/// Keeps the used buffers and closes the gaps between them.
void FeedStream::take_buffers(std::vector<std::byte> bytes) {
  HeldBuffers chunk;
  chunk.bytes = std::move(bytes);
  std::size_t kept = 0;
  for (std::size_t at = 0; at < chunk.bytes.size();) {
    const auto stored = std::span(chunk.bytes).subspan(at);
    const auto header = read_epoch_buffer_header(stored);
    at += header->stored_bytes();
    kept += take_buffer(*header, stored.first(header->stored_bytes()), kept, chunk);
  }
  auto& memory = chunk.bytes;
  memory.resize(kept);
  if (kept == 0) {
    if (memory.capacity() <= kSpareBytes) spare_ = std::move(memory);
    return;
  }
  if (memory.capacity() > kept + kept / 2) {
    std::vector<std::byte> exact(memory);
    if (memory.capacity() <= kSpareBytes) spare_ = std::move(memory);
    memory = std::move(exact);
  }
  chunk.buffers.shrink_to_fit();
  held_bytes_ += held_bytes(chunk);
  chunks_.push_back(std::move(chunk));
}

/// Returns the number of bytes kept, at offset `at` of the chunk. `stored` also lies in the chunk, at or after that
/// offset, or outside it.
std::size_t FeedStream::take_buffer(const EpochBufferHeader& header, std::span<const std::byte> stored, std::size_t at,
                                    HeldBuffers& chunk) {
  if (!first_epoch_) first_epoch_ = header.first_epoch;
  if (header.first_epoch < begin_) return take_end(header, stored, at, chunk);
  if (const auto cause = refusal(header, at)) {
    drop(header, *cause);
    return 0;
  }
  auto* const place = chunk.bytes.data() + at;
  if (place != stored.data()) std::memmove(place, stored.data(), stored.size());
  chunk.buffers.push_back({at, header.first_epoch, header.n_epochs, header.n_hits, header.n_words, header.words_crc});
  hits_ += header.n_hits;
  used_end_ = header.epochs().end;
  data_end_ = std::max(data_end_, used_end_);
  return stored.size();
}

/// Takes the part that lies in the run of a buffer that begins before the run.
std::size_t FeedStream::take_end(const EpochBufferHeader& header, std::span<const std::byte> stored, std::size_t at,
                                 HeldBuffers& chunk) {
  if (header.epochs().end <= begin_) {
    leave_before(header.n_hits);
    return 0;
  }
  std::vector<std::byte> end;
  const auto kept = clip_stored(stored, {begin_, header.epochs().end}, header_, end);
  if (!kept) {
    drop(header, DropCause::corrupt);
    return 0;
  }
  leave_before(header.n_hits - (end.empty() ? 0 : kept->n_hits));
  return end.empty() ? 0 : take_buffer(*kept, end, at, chunk);
}

/// Why a buffer is not used; std::nullopt if it is. `taken`: bytes already kept of the same chunk.
std::optional<DropCause> FeedStream::refusal(const EpochBufferHeader& header, std::size_t taken) {
  if (header.first_epoch < closed_) {
    late_passed_ += passed_.contains(header.first_epoch) ? 1 : 0;
    return DropCause::late;
  }
  const bool may_drop = (settings_.drop_when_full && begun_) || (starved() && header.first_epoch < wanted_);
  const bool full = held_bytes_ + taken + held_bytes(header) > settings_.buffer_bytes;
  if (may_drop && full) return DropCause::congested;
  return std::nullopt;
}

void FeedStream::drop(const EpochBufferHeader& header, DropCause cause) {
  take_damage({.first_epoch = header.first_epoch,
               .n_epochs = Epoch(header.n_epochs),
               .file_offset = header.stream_offset,
               .n_hits = header.n_hits,
               .cause = cause});
}

void FeedStream::note_dead_time(const Damage& damage) {
  if (dead_epochs_ == 0) {
    log::warn("{}: the run cannot keep up: epoch buffers are dropped from epoch {} on{}", name(),
              damage.first_epoch.value,
              starved() ? ", for one slice needs more than --live-buffer: use a larger one or fewer "
                          "--epochs-per-slice"
                        : "");
  }
  dead_epochs_ += damage.n_epochs;
}

/// Records a loss. Losses before the first open epoch are accounted for in that epoch.
void FeedStream::take_damage(Damage damage) {
  if (!first_epoch_ && damage.first_epoch == 0 && damage.n_epochs != 0) joined_ = true;
  // The loss before a continuing source's first data is already known.
  if (!first_epoch_ && damage.first_epoch == 0 && damage.n_hits == 0 && return_.continues()) return;
  if (damage.first_epoch < begin_ && end_of(damage) <= begin_ && !return_.continues()) {
    counters_[Metric::hits_before_the_run] += damage.n_hits;
    return;
  }
  hits_ += damage.n_hits;
  if (damage.cause == DropCause::congested) note_dead_time(damage);
  if (damage.n_epochs >= kForever) {
    tail_ = damage;
    if (damage.n_hits == 0) return;
    damage.n_epochs = 1;  // the last slice accounts for its hits
  }
  if (damage.first_epoch < closed_) {
    const Epoch end = end_of(damage);
    damage.n_epochs = end > closed_ ? end - closed_ : 0;
    damage.first_epoch = closed_;
  }
  if (damage.n_hits == 0 && damage.n_epochs == 0) return;
  add_damage(damage);
}

void FeedStream::add_damage(const Damage& damage) {
  dropped_[static_cast<std::size_t>(damage.cause)] += damage.n_hits;
  if (!put_together(damage)) {
    const auto after = std::ranges::upper_bound(damage_, damage.first_epoch, {}, &Damage::first_epoch);
    damage_.insert(after, damage);
  }
  data_end_ = std::max({data_end_, damage.first_epoch + 1, end_of(damage)});
}

/// Merges damage into an earlier record of the same cause if they touch, or if no data in between are used; if there
/// are too many records, merges any of the same cause. Returns false if no record fits.
bool FeedStream::put_together(const Damage& damage) {
  const bool too_many = damage_.size() >= kMostDamage;
  const std::size_t near = std::min<std::size_t>(damage_.size(), too_many ? kDropCauses : 1);
  for (std::size_t back = 1; back <= near; ++back) {
    auto& other = damage_[damage_.size() - back];
    const bool nothing_used = damage.cause == DropCause::congested && data_end_ <= end_of(other);
    const bool touches = too_many || nothing_used || damage.first_epoch <= end_of(other);
    if (other.first_epoch >= closed_ && touches && extend(other, damage)) return true;
  }
  return false;
}

bool FeedStream::request(EpochRange epochs) {
  const bool there = ended_ || complete_ >= epochs.end;
  const bool stuck = !there && is_full() && held_after_release(epochs.begin) >= settings_.buffer_bytes;
  if (stuck) wanted_ = std::max(wanted_, epochs.end);
  return there;
}

/// Memory still held after release_before(epoch), which releases only whole chunks.
std::size_t FeedStream::held_after_release(Epoch epoch) const {
  std::size_t bytes = 0;
  for (std::size_t i = chunks_.size(); i-- > 0 && chunks_[i].end() > epoch;) bytes += held_bytes(chunks_[i]);
  return bytes;
}

bool FeedStream::is_crowded_before(Epoch epoch) const {
  const std::size_t much = settings_.buffer_bytes / kCrowdedShare;
  std::size_t bytes = 0;
  for (auto chunk = chunks_.begin(); bytes <= much && chunk != chunks_.end() && chunk->end() <= epoch; ++chunk) {
    bytes += held_bytes(*chunk);
  }
  return bytes > much;
}

void FeedStream::give_up(Epoch end, bool missing) {
  const Epoch from = std::max({complete_, used_end_, closed_});
  complete_ = std::max(complete_, end);
  if (missing && from < end) {
    add_damage({.first_epoch = from, .n_epochs = end - from, .cause = DropCause::late});
    counters_[Metric::epochs_given_up] += (end - from).value;
  }
  closed_ = std::max(closed_, end);
  ended_ = ended_ || !missing;
}

void FeedStream::pass(Epoch end) {
  const Epoch from = std::max({complete_, used_end_, closed_});
  passed_ = {from == passed_.end ? passed_.begin : from, end};
  complete_ = std::max(complete_, end);
  closed_ = std::max(closed_, end);
}

bool FeedStream::settle(Epoch end) {
  if (complete_ >= end) return true;
  const bool holds = !drained() && seen_end_ > complete_;
  if (holds && feed_->settle(end)) {
    settled_ = std::max(settled_, end);
    return false;
  }
  complete_ = end;
  closed_ = std::max(closed_, end);
  return true;
}

void FeedStream::collect(EpochRange epochs, SliceData& out) {
  closed_ = std::max(closed_, epochs.end);
  for (const auto& damage : damage_) {
    if (damage.first_epoch >= epochs.end) break;
    if (end_of(damage) > epochs.begin || epochs.contains(damage.first_epoch)) out.damage.push_back(damage);
  }
  collect_held(chunks_, epochs, out.pieces);
}

std::optional<Epoch> FeedStream::end_epoch() const { return ended_ ? std::optional(data_end_) : std::nullopt; }

/// Returns the earliest epoch in which data may begin. Data that later arrive before it are late.
std::optional<Epoch> FeedStream::next_beginning(Epoch from) {
  auto next = next_held(chunks_, from);
  const auto lost = std::ranges::lower_bound(damage_, from, {}, &Damage::first_epoch);
  if (lost != damage_.end()) next = std::min(next.value_or(lost->first_epoch), lost->first_epoch);
  if (ended_) return next;
  const Epoch known = std::max(from, complete_);
  next = std::min(next.value_or(known), known);
  closed_ = std::max(closed_, *next);
  return next;
}

void FeedStream::release_before(Epoch epoch) {
  while (!chunks_.empty() && chunks_.front().end() <= epoch) {
    held_bytes_ -= held_bytes(chunks_.front());
    if (chunks_.front().bytes.capacity() <= kSpareBytes) spare_ = std::move(chunks_.front().bytes);
    chunks_.pop_front();
  }
  while (!damage_.empty() && damage_.front().first_epoch < epoch && end_of(damage_.front()) <= epoch) {
    damage_.pop_front();
  }
}

/// Counts the hits beyond the end of the run, all of which are still held.
std::uint64_t FeedStream::hits_beyond_end() const {
  std::uint64_t beyond = 0;
  std::vector<std::byte> kept;
  for (const auto& chunk : chunks_) {
    for (const auto& buffer : chunk.buffers) {
      if (buffer.epochs().end <= end_) continue;
      beyond += buffer.n_hits;
      if (buffer.first_epoch >= end_) continue;
      kept.clear();
      // A damaged buffer counts as dropped in the slice of its first epoch.
      const auto before = clip_stored(std::span(chunk.bytes).subspan(buffer.offset), {0, end_}, header_, kept);
      beyond -= before ? before->n_hits : buffer.n_hits;
    }
  }
  for (const auto& damage : damage_) {
    if (damage.first_epoch >= end_) beyond += damage.n_hits;
  }
  return beyond;
}

std::uint64_t FeedStream::hits_read() const { return hits_ - hits_beyond_end(); }

void FeedStream::close() {
  if (!finishing_) finish();
  if (feed_->outlasts_run()) {
    put_back_rest();
  } else {
    count_rest();
  }
  if (recording_) recording_->finish();
}

void FeedStream::end_at(Epoch end) {
  end_ = end;
  feed_->end_at(end);
}

/// Returns the data held beyond the end of the run. A buffer that the end divides is left to this run if it is damaged.
FeedBatch FeedStream::beyond_end() const {
  FeedBatch rest;
  for (const auto& chunk : chunks_) {
    for (const auto& buffer : chunk.buffers) {
      if (buffer.epochs().end <= end_) continue;
      const auto stored = std::span(chunk.bytes).subspan(buffer.offset);
      if (buffer.first_epoch < end_) {
        (void)clip_stored(stored, {end_, buffer.epochs().end}, header_, rest.buffers);
        continue;
      }
      const auto whole = stored.first(read_epoch_buffer_header(stored)->stored_bytes());
      rest.buffers.insert(rest.buffers.end(), whole.begin(), whole.end());
    }
  }
  std::ranges::copy_if(damage_, std::back_inserter(rest.damage),
                       [this](const Damage& damage) { return damage.first_epoch >= end_; });
  rest.complete = peer_watermark_;
  rest.seen_end = seen_end_;
  return rest;
}

/// The data beyond the end now belong to the run that follows.
void FeedStream::put_back_rest() {
  auto rest = beyond_end();
  hits_ -= hits_beyond_end();
  for (const auto& lost : rest.damage) dropped_[static_cast<std::size_t>(lost.cause)] -= lost.n_hits;
  chunks_.clear();
  damage_.clear();
  feed_->put_back(std::move(rest));
}

/// Counts received data that no slice will use. They belong to the recording but not to the run.
void FeedStream::count_rest() {
  const auto longest = std::chrono::steady_clock::now() + kLongestRest;
  while (!feed_ended_ && std::chrono::steady_clock::now() < longest) {
    batch_.clear();
    feed_->take(batch_);
    steps_.take_out(batch_, closed_);
    if (recording_ && begun_) recording_->add(batch_.buffers, batch_.damage);
    std::span<const std::byte> rest(batch_.buffers);
    for (auto header = read_epoch_buffer_header(rest); header; header = read_epoch_buffer_header(rest)) {
      counters_[Metric::hits_not_taken] += header->n_hits;
      rest = rest.subspan(header->stored_bytes());
    }
    for (const auto& damage : batch_.damage) counters_[Metric::hits_not_taken] += damage.n_hits;
    take_progress();
    if (!feed_ended_) std::this_thread::sleep_for(kLookForRest);
  }
}

std::uint64_t FeedStream::anomalies() const {
  return feed_->anomalies() + (recording_ ? recording_->failures() : 0) + counters_[Metric::unknown_losses];
}

SourceCounts FeedStream::counts() const {
  auto counts = feed_->counts();
  auto& counters = counts.counters;
  counters.add(counters_);
  counters.keep({{Metric::source_hits_in, hits_read()}, {Metric::hits_after_the_end, hits_beyond_end()}});
  if (clock_behind_ns_) counters[Metric::clock_difference_ns] = clock_difference_ns();
  // Losses that the feed knows have also arrived as damage, so these counts replace the feed's.
  for (std::size_t i = 0; i < kDropCauses; ++i) {
    if (dropped_[i] != 0) counters[source_dropped_hits(static_cast<DropCause>(i))] = dropped_[i];
  }
  if ((header_.flags & kNumbered) == 0) {
    const double epoch_ns = static_cast<double>(header_.base.tick_ps) * header_.base.epoch_ticks / 1000;
    counters.keep({{Metric::dead_time_ns, static_cast<std::uint64_t>(static_cast<double>(dead_epochs_) * epoch_ns)}});
  }
  return counts;
}

}  // namespace eventloom
