#include "io/live/feed_stream.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

#include "core/runtime/log.hpp"
#include "formats/clip_buffer.hpp"
#include "io/live/damage_records.hpp"

namespace eventloom {

namespace {

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
      steps_(epochs_in(settings_.most_jump_s, header_)),
      held_(settings_.buffer_bytes) {}

LivePeer FeedStream::peer() const {
  const bool begins = (beginning_.first && steps_.is_placed()) || beginning_.stated;
  const bool optional = (header_.flags & kOptional) != 0;
  return {.known = positions_.is_drained() || optional || (begins && feed_->header_known()),
          .connected = feed_->is_connected(),
          .joined = beginning_.joined,
          .started_ns = feed_->started_ns(),
          .clock_behind_ns = clock_.behind_ns(),
          .place = place_so_far(),
          .wraps_after = feed_->wraps_after()};
}

LiveProgress FeedStream::progress() const {
  return {.complete = positions_.complete(),
          .received = positions_.received(),
          .seen_end = std::max(data_end(), rest_.seen_end),
          .aside = steps_.aside(),
          .crowded_before = held_.crowded_before(),
          .listens = listens(),
          .held_up = rest_.held_up,
          .drained = positions_.is_drained(),
          .late_passed = account_.late_passed()};
}

void FeedStream::fix_header() {
  header_ = feed_->fix_header();
  if (!settings_.record.empty()) recording_.emplace(settings_.record, header_, name());
}

/// Processes the received data again, since only now the positions of the other sources are known.
void FeedStream::begin(LiveBegin begin) {
  if (!begin.name.empty()) shown_ = std::move(begin.name);
  if (begin.past) return_.resume_after(*begin.past);
  return_.keep(std::move(begin.keep));
  const Epoch epoch = begin.epoch;
  const Epoch received = positions_.received();
  positions_.begin_run(epoch);
  const auto apart_s = settings_.most_jump_s == 0 ? 0 : std::max(settings_.most_jump_s, kMostApart_s);
  steps_.begin_at(epoch, epochs_in(apart_s, header_));
  auto chunks = held_.take_all();
  auto damage = losses_.take_from(0);
  LiveReturn::Missed missed;
  const Epoch first = beginning_.first.value_or(epoch);
  if (return_.awaits_first() && !chunks.empty()) {
    missed = join(chunks.front().bytes, account_.hits_received());
  } else if (return_.is_open() && batch_.sent && received != 0) {
    missed = join_without_data(account_.hits_received());
  }
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
  rest.complete = received;
  rest.ended = positions_.is_drained();
  take_again(std::move(rest));
  if (missed.any()) add_missed(missed, first);
  return_.note_place(batch_.sent, account_.hits());
  feed_->begin_at(epoch);
}

void FeedStream::expect(Epoch epoch) {
  steps_.expect(epoch);
  if (epoch != std::numeric_limits<Epoch>::max()) feed_->others_at(epoch);
}

void FeedStream::take_again(FeedBatch batch) {
  steps_.take_out(batch, positions_.closed());
  if (recording_) recording_->add(batch.buffers, batch.damage);
  for (const auto& lost : batch.damage) take_damage(lost);
  take_buffers(std::move(batch.buffers));
  positions_.advance(batch.complete, Advance::received);
}

/// Resets the state to that before any data were taken.
void FeedStream::restart() {
  held_.clear();
  losses_.clear();
  account_.restart();
  positions_.restart();
  beginning_.first.reset();
}

/// Whether data are taken from the feed. Until the run has begun nothing is dropped, since it may have to be recorded.
bool FeedStream::listens() const {
  if (positions_.is_drained()) return false;
  return !held_.is_full() || starved() || (settings_.drop_when_full && positions_.begun());
}

std::size_t FeedStream::receive() {
  if (!listens()) return 0;
  batch_.clear();
  batch_.buffers = held_.take_spare();
  feed_->take(batch_);
  const std::size_t bytes = batch_.buffers.size();
  const bool begun = positions_.begun();
  if (steps_.take_out(batch_, positions_.closed())) {
    account_[Metric::hits_before_the_run] += account_.hits();
    restart();
  }
  if (begun && return_.awaits_first() && !batch_.buffers.empty()) {
    const auto missed = join(batch_.buffers, account_.hits_received() + hits_in(batch_));
    if (missed.any()) add_missed(missed, read_epoch_buffer_header(batch_.buffers)->first_epoch);
  } else if (begun && return_.is_open() && batch_.sent && batch_.complete != 0) {
    const auto missed = join_without_data(account_.hits_received() + hits_in(batch_));
    if (missed.any()) add_missed(missed, batch_.complete);
  }
  const bool moved = is_news(batch_);
  for (const auto& damage : batch_.damage) take_damage(damage);
  if (recording_ && begun) recording_->add(batch_.buffers, batch_.damage);
  take_buffers(std::move(batch_.buffers));
  take_progress();
  if (bytes != 0) clock_.measure(feed_->started_ns(), data_end(), header_.base);
  if (begun) return_.note_place(batch_.sent, account_.hits());
  return moved ? bytes + 1 : 0;
}

/// Whether the batch shows that the peer has sent more. Data delivered to settle the feed were received earlier.
bool FeedStream::is_news(const FeedBatch& batch) const {
  if (batch.ended || batch.seen_end > rest_.seen_end) return true;
  if (rest_.settled > positions_.received()) return false;
  return !batch.buffers.empty() || !batch.damage.empty() || batch.complete > positions_.received();
}

/// Takes the feed's progress. If the run has stopped the feed, the peer may have more data, so the stream is drained
/// rather than ended.
void FeedStream::take_progress() {
  positions_.advance(batch_.complete, Advance::received);
  rest_.seen_end = batch_.seen_end;
  rest_.held_up = batch_.held_up && !batch_.ended;
  rest_.ended = batch_.ended;
  beginning_.stated = batch_.first_epoch;
  if (batch_.ended) positions_.drain();
}

void FeedStream::finish(std::optional<Epoch> end) {
  if (end) {
    positions_.end_run(*end);
    feed_->end_at(*end);
  }
  rest_.stopped = true;
  positions_.finish();
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
  note_last(chunk);
  held_.add(std::move(chunk), kept);
}

/// Returns the number of bytes kept, at offset `at` of the chunk. `stored` also lies in the chunk, at or after that
/// offset, or outside it.
std::size_t FeedStream::take_buffer(const EpochBufferHeader& header, std::span<const std::byte> stored, std::size_t at,
                                    HeldBuffers& chunk) {
  if (!beginning_.first) beginning_.first = header.first_epoch;
  if (header.first_epoch < positions_.run().begin) return take_end(header, stored, at, chunk);
  if (const auto cause = refusal(header, at)) {
    drop(header, *cause);
    return 0;
  }
  auto* const place = chunk.bytes.data() + at;
  if (place != stored.data()) std::memmove(place, stored.data(), stored.size());
  chunk.buffers.push_back({at, header.first_epoch, header.n_epochs, header.n_hits, header.n_words, header.words_crc});
  account_.take(header.n_hits);
  positions_.take(header.epochs().end);
  return stored.size();
}

/// Takes the part that lies in the run of a buffer that begins before the run.
std::size_t FeedStream::take_end(const EpochBufferHeader& header, std::span<const std::byte> stored, std::size_t at,
                                 HeldBuffers& chunk) {
  const Epoch begin = positions_.run().begin;
  if (header.epochs().end <= begin) {
    leave_before(header.n_hits);
    return 0;
  }
  std::vector<std::byte> end;
  const auto kept = clip_stored(stored, {begin, header.epochs().end}, header_, end);
  if (!kept) {
    drop(header, DropCause::corrupt);
    return 0;
  }
  leave_before(header.n_hits - (end.empty() ? 0 : kept->n_hits));
  return end.empty() ? 0 : take_buffer(*kept, end, at, chunk);
}

/// Why a buffer is not used; std::nullopt if it is. `taken`: bytes already kept of the same chunk.
std::optional<DropCause> FeedStream::refusal(const EpochBufferHeader& header, std::size_t taken) {
  if (header.first_epoch < positions_.closed()) {
    if (header.is_loss()) return DropCause::lost;  // a loss that its recorder has counted
    if (positions_.was_passed(header.first_epoch)) account_.note_late_passed();
    return DropCause::late;
  }
  const bool may_drop = (settings_.drop_when_full && positions_.begun()) || (starved() && header.first_epoch < wanted_);
  if (may_drop && !held_.has_room(taken, header)) return DropCause::congested;
  return std::nullopt;
}

void FeedStream::drop(const EpochBufferHeader& header, DropCause cause) {
  take_damage({.first_epoch = header.first_epoch,
               .n_epochs = Epoch(header.n_epochs),
               .file_offset = header.stream_offset,
               .n_hits = header.n_hits,
               .cause = cause});
}

void FeedStream::report_congestion(const Damage& damage) const {
  log::warn(
      "{}: the run cannot keep up: epoch buffers are dropped from epoch {} on{}", name(), damage.first_epoch.value,
      starved() ? ", for one slice needs more than --live-buffer: use a larger one or fewer --epochs-per-slice" : "");
}

/// Records a loss. Losses before the first open epoch are accounted for in that epoch.
void FeedStream::take_damage(Damage damage) {
  const bool before_first = !beginning_.first && damage.first_epoch == 0;
  if (before_first && damage.n_epochs != 0) beginning_.joined = true;
  // The loss before a continuing source's first data is already known.
  if (before_first && damage.n_hits == 0 && return_.continues()) return;
  const Epoch begin = positions_.run().begin;
  if (damage.first_epoch < begin && end_of(damage) <= begin && !return_.continues()) {
    account_[Metric::hits_before_the_run] += damage.n_hits;
    return;
  }
  if (damage.cause == DropCause::congested && !account_.any_congested()) report_congestion(damage);
  account_.lose(damage);
  if (damage.n_epochs >= kForever) {
    losses_.set_tail(damage);
    if (damage.n_hits == 0) return;
    damage.n_epochs = 1;  // the last slice accounts for its hits
  }
  const Epoch closed = positions_.closed();
  if (damage.first_epoch < closed) {
    const Epoch end = end_of(damage);
    damage.n_epochs = end > closed ? end - closed : 0;
    damage.first_epoch = closed;
  }
  if (damage.n_hits == 0 && damage.n_epochs == 0) return;
  add_damage(damage);
}

void FeedStream::add_damage(const Damage& damage) {
  account_.drop(damage);
  losses_.add(damage, positions_.closed(), positions_.taken());
}

bool FeedStream::request(EpochRange epochs) {
  const bool there = positions_.stage() == LiveStage::ended || positions_.complete() >= epochs.end;
  if (!there && held_.is_full() && held_.stays_full(epochs.begin)) wanted_ = std::max(wanted_, epochs.end);
  return there;
}

bool FeedStream::advance(Epoch to, Advance how) {
  if (how == Advance::settled) {
    if (positions_.complete() >= to) return true;
    if (!has_settled(to)) return false;
  }
  if (how == Advance::released && to > positions_.released()) feed_->safe_before(to);
  if (how == Advance::missing) add_missing({positions_.unknown(), to});
  positions_.advance(to, how);
  return true;
}

void FeedStream::add_missing(EpochRange epochs) {
  if (epochs.begin >= epochs.end) return;
  const Epoch n = epochs.end - epochs.begin;
  add_damage({.first_epoch = epochs.begin, .n_epochs = n, .cause = DropCause::late});
  account_[Metric::epochs_given_up] += n.value;
}

/// Has the feed deliver data that it holds back before `end`.
bool FeedStream::has_settled(Epoch end) {
  const bool holds = !positions_.is_drained() && rest_.seen_end > positions_.complete();
  if (!holds || !feed_->settle(end)) return true;
  rest_.settled = std::max(rest_.settled, end);
  return false;
}

void FeedStream::collect(EpochRange epochs, SliceData& out) {
  positions_.close_before(epochs.end);
  losses_.collect(epochs, out.damage);
  held_.collect(epochs, out.pieces);
}

std::optional<Epoch> FeedStream::end_epoch() const {
  return positions_.stage() == LiveStage::ended ? std::optional(data_end()) : std::nullopt;
}

/// Returns the earliest epoch in which data may begin. Data that later arrive before it are late.
std::optional<Epoch> FeedStream::next_beginning(Epoch from) {
  auto next = held_.next_beginning(from);
  if (const auto lost = losses_.next_beginning(from)) next = std::min(next.value_or(*lost), *lost);
  if (positions_.stage() == LiveStage::ended) return next;
  const Epoch known = std::max(from, positions_.complete());
  next = std::min(next.value_or(known), known);
  positions_.close_before(*next);
  return next;
}

void FeedStream::release_before(Epoch epoch) {
  held_.release_before(epoch);
  losses_.release_before(epoch);
}

/// Counts the hits beyond the end of the run, all of which are still held.
std::uint64_t FeedStream::hits_beyond_end() const {
  const Epoch end = positions_.run().end;
  return held_.hits_from(end, header_) + losses_.hits_from(end);
}

std::uint64_t FeedStream::hits_read() const { return account_.hits() - hits_beyond_end(); }

void FeedStream::close() {
  if (!rest_.stopped) finish(std::nullopt);
  if (feed_->outlasts_run()) {
    put_back_rest();
  } else {
    count_rest();
  }
  report_unheard();
  note_stop();
  if (const auto missed = return_.end(); missed.any()) note_missed(missed);
  if (recording_) recording_->finish();
}

/// Events may lack an optional source.
void FeedStream::report_unheard() {
  const auto came = feed_->unheard();
  if (!came || (header_.flags & kOptional) != 0) return;
  unheard_ = true;
  log::error("{}: nothing received: {}", name(), *came);
}

/// The data beyond the end now belong to the run that follows.
void FeedStream::put_back_rest() {
  const Epoch end = positions_.run().end;
  const auto hits = hits_beyond_end();
  FeedBatch rest;
  held_.copy_from(end, header_, rest.buffers);
  rest.damage = losses_.take_from(end);
  rest.complete = positions_.received();
  rest.seen_end = rest_.seen_end;
  account_.leave(hits, rest.damage);
  // The data still held are all of this run.
  positions_.end_run(std::numeric_limits<Epoch>::max());
  feed_->put_back(std::move(rest));
}

/// Counts received data that no slice will use. They belong to the recording but not to the run.
void FeedStream::count_rest() {
  const auto longest = std::chrono::steady_clock::now() + kLongestRest;
  while (!rest_.ended && std::chrono::steady_clock::now() < longest) {
    batch_.clear();
    feed_->take(batch_);
    steps_.take_out(batch_, positions_.closed());
    if (recording_ && positions_.begun()) recording_->add(batch_.buffers, batch_.damage);
    account_[Metric::hits_not_taken] += hits_in(batch_);
    take_progress();
    if (!rest_.ended) std::this_thread::sleep_for(kLookForRest);
  }
}

std::uint64_t FeedStream::anomalies() const {
  return feed_->anomalies() + (recording_ ? recording_->failures() : 0) + account_[Metric::unknown_losses] +
         (unheard_ ? 1 : 0);
}

SourceCounts FeedStream::counts() const {
  auto counts = feed_->counts();
  account_.add_to(counts.counters, header_, hits_beyond_end());
  if (const auto behind = clock_.behind_ns()) {
    counts.counters[Metric::clock_difference_ns] = static_cast<std::uint64_t>(std::abs(*behind));
  }
  return counts;
}

}  // namespace eventloom
