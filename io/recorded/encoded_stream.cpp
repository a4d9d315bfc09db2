#include "io/recorded/encoded_stream.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "formats/units.hpp"
#include "io/recorded/block_losses.hpp"

namespace eventloom {

namespace {

/// An optional live source gets one epoch per buffer, since it can be asked for the data received up to any epoch.
EpochBufferEncoder::Limits limits_of(const StreamHeader& header, bool live) {
  EpochBufferEncoder::Limits limits;
  if (live && (header.flags & kOptional) != 0) limits.epochs_per_buffer = 1;
  return limits;
}

/// Tick of the stream, ps; 0 if times are event numbers.
std::uint64_t tick_ps_of(const StreamHeader& header) {
  return (header.flags & kNumbered) != 0 ? 0 : header.base.tick_ps;
}

/// The last time that data may have.
Tick last_tick(std::uint32_t epoch_ticks) { return tick_of_epoch(max_epoch(epoch_ticks) + 1, epoch_ticks) - 1; }

}  // namespace

EncodedStream::EncodedStream(std::unique_ptr<HitReader> reader, ReorderLimits reorder, std::optional<LiveReading> live,
                             bool drops_copies)
    : reader_(std::move(reader)),
      reorder_(reorder),
      live_(live),
      ordered_(reader_->name(), reorder, tick_ps_of(reader_->header())),
      copies_(drops_copies ? std::optional(CopySearch()) : std::nullopt),
      losses_(reader_->header(), live_.has_value()),
      encoder_(reader_->header().source, reader_->header().base.epoch_ticks,
               encode_stream_header(reader_->header()).size(), limits_of(reader_->header(), live_.has_value())) {}

std::optional<Epoch> EncodedStream::first_epoch() {
  if (!first_epoch_) read_until(1);
  return first_epoch_;
}

std::optional<Epoch> EncodedStream::begins() const {
  const auto held = reader_->held_from();
  return first_epoch_ || !held ? first_epoch_ : std::optional(epoch_of(*held, reader_->header().base.epoch_ticks));
}

std::optional<Epoch> EncodedStream::end_epoch() const { return ended_ ? std::optional(end_epoch_) : std::nullopt; }

/// Fraction of the input that has been encoded. Some hits already read still await sorting.
std::optional<double> EncodedStream::share_read() const {
  const auto read = reader_->share_read();
  const auto encoded = static_cast<double>(encoder_.hits());
  const auto waiting = static_cast<double>(ordered_.waiting());
  if (!read || encoded + waiting == 0) return read;
  return *read * encoded / (encoded + waiting);
}

/// Reads until every buffer that begins before `epoch` is closed, or the stream has ended.
void EncodedStream::read_until(Epoch epoch) {
  ReorderBuffer::Hit hit;
  while (!ended_ && std::max(encoder_.open_from().value_or(0), closed_) < epoch) {
    if (!ordered_.next(hit)) {
      if (all_read_) return end();
      read_block();
      continue;
    }
    encode(hit);
  }
}

std::optional<Epoch> EncodedStream::read_on(Epoch settle_to) {
  if (ended_) return std::nullopt;
  if (!all_read_) read_block();
  if (live_ && !live_->as_recorded) release_waiting();
  const bool settles = settle_to > complete();
  if (settles) ordered_.release(ordered_.blocks_pushed());
  ReorderBuffer::Hit hit;
  while (ordered_.next(hit)) encode(hit);
  if (all_read_) {
    end();
    return std::nullopt;
  }
  if (settles) settle(settle_to);
  close_when_quiet();
  return complete();
}

/// Closes the epochs before `end`, unless the reader still holds back hits of them: it then delivers these first.
void EncodedStream::settle(Epoch end) {
  if (complete() >= end) return;
  const auto held = reader_->holds_back();
  if (held && epoch_of(*held, reader_->header().base.epoch_ticks) < end) return reader_->release_held();
  close_open_before(end);
}

/// Closes the open epoch after a silence, unless times are event numbers.
void EncodedStream::close_when_quiet() {
  const bool may_close =
      live_ && !live_->as_recorded && (reader_->header().flags & kNumbered) == 0 && ordered_.waiting() == 0;
  if (!may_close || !encoder_.open_from()) return;
  if (std::chrono::steady_clock::now() - heard_ >= live_->longest_quiet) close_open_before(end_epoch_);
}

/// Closes the open buffer. From now on, hits before `epoch`, or up to the buffer's last epoch, are late.
void EncodedStream::close_open_before(Epoch epoch) {
  close_buffer();
  closed_ = std::max(epoch, end_epoch_);
  losses_.close_before(closed_);
}

void EncodedStream::encode(const ReorderBuffer::Hit& hit) {
  const std::uint32_t epoch_ticks = reader_->header().base.epoch_ticks;
  const Epoch at = epoch_of(hit.time, epoch_ticks);
  if (at > max_epoch(epoch_ticks)) refuse_time(hit.time);
  if (copies_ && copies_->is_copy(hit)) return losses_.drop_copy(at);
  if (encoder_.must_close_before(hit.time)) close_buffer();
  encoder_.add(hit.time, hit.channel, hit.payload);
  if (at >= end_epoch_) take_epoch(hit.time, at);
}

/// Takes note of an epoch later than all before.
void EncodedStream::take_epoch(Tick time, Epoch epoch) {
  if (!first_epoch_) {
    first_epoch_ = epoch;
  } else if (epoch > end_epoch_ && !live_ && (reader_->header().flags & kNumbered) == 0) {
    report_far(time, epoch);
    report_rare(epoch);
  }
  end_epoch_ = epoch + 1;
}

double EncodedStream::seconds(Epoch epochs) const {
  const auto& base = reader_->header().base;
  return static_cast<double>(epochs) * base.epoch_ticks * static_cast<double>(base.tick_ps) * 1e-12;
}

/// Warns of a hit far from all others: the input is probably misinterpreted or damaged.
void EncodedStream::report_far(Tick time, Epoch epoch) {
  constexpr double kLong = 3600;  // seconds
  constexpr double kFar = 100;    // times the length of everything before
  const double gap = seconds(epoch - end_epoch_);
  if (gap < kLong || gap < kFar * seconds(end_epoch_ - *first_epoch_) || !reported_far_.admit()) return;
  log::warn(
      "{}: hit {} at {:.9g} s comes {:.3g} h after the previous one and is far from all others: wrong unit or record "
      "size?",
      name(), encoder_.hits(), static_cast<double>(time) * static_cast<double>(reader_->header().base.tick_ps) * 1e-12,
      gap / kLong);
}

/// Warns of a hit rate lower than that of any detector, for the same reason.
void EncodedStream::report_rare(Epoch epoch) {
  constexpr std::uint64_t kEnough = 100;  // minimum hits to determine a rate
  constexpr double kRare = 36;            // seconds between hits
  if (rate_checked_ || reported_far_.count() != 0 || encoder_.hits() < kEnough) return;
  rate_checked_ = true;
  const double apart = seconds(epoch - *first_epoch_) / static_cast<double>(encoder_.hits());
  if (apart < kRare) return;
  log::warn("{}: its first {} hits are {:.3g} s apart on average: wrong unit or record size?", name(), encoder_.hits(),
            apart);
}

void EncodedStream::refuse_time(Tick time) const {
  const auto& base = reader_->header().base;
  throw UserError("'" + name() + "': a hit has the time " + std::to_string(time.value) + "; with epochs of " +
                  std::to_string(base.epoch_ticks) + " ticks the last time possible is " +
                  std::to_string(last_tick(base.epoch_ticks).value));
}

void EncodedStream::read_block() {
  auto block = ordered_.spare();
  if (!reader_->read(block)) return finish_reading();
  const auto jump = live_ && !live_->as_recorded ? jump_back(block) : block.size();
  if (jump < block.size()) {
    const auto loss = std::ranges::find_if(block.losses, [jump](const Loss& l) { return l.before >= jump; });
    behind_the_jump_ = block.cut(jump, static_cast<std::size_t>(loss - block.losses.begin()));
  }
  take(std::move(block));
  if (behind_the_jump_.size() != 0) finish_reading();
}

void EncodedStream::take(HitBlock block) {
  if (live_) {
    leave_out_late(block);
    see(block);
  }
  losses_.take(block);
  if (block.size() != 0) ordered_.push(std::move(block));
}

void EncodedStream::break_off() {
  if (!all_read_) finish_reading();
}

void EncodedStream::finish_reading() {
  losses_.finish();
  ordered_.end();
  all_read_ = true;
}

/// Hits before this time are late. For live streams.
Tick EncodedStream::earliest_in_time() const {
  return std::max(ordered_.given_to().value_or(0), tick_of_epoch(closed_, reader_->header().base.epoch_ticks));
}

/// Index of the first hit after the clock has gone back; the block's size if it has not.
std::size_t EncodedStream::jump_back(const HitBlock& block) const {
  const auto& header = reader_->header();
  if ((header.flags & kNumbered) != 0) return block.size();
  const Tick disorder(steps_in(std::chrono::duration_cast<std::chrono::nanoseconds>(live_->longest_disorder).count(),
                               header.base.tick_ps));
  const Tick least = earliest_in_time();
  const auto in_time = std::find_if(block.time.rbegin(), block.time.rend(),
                                    [=](Tick time) { return least <= disorder || time >= least - disorder; });
  return static_cast<std::size_t>(block.time.rend() - in_time);
}

std::unique_ptr<EncodedStream> EncodedStream::behind_the_jump() {
  if (behind_the_jump_.size() == 0) return nullptr;
  auto next = std::make_unique<EncodedStream>(std::move(reader_), reorder_, live_);
  next->losses_before_ = losses_before_;
  next->losses_before_.add(losses_.counters());
  next->anomalies_before_ = anomalies_before_ + losses_.without_hits();
  next->take(std::move(behind_the_jump_));
  return next;
}

/// Drops hits that would end the program if they were in a file.
void EncodedStream::leave_out_late(HitBlock& block) {
  const Tick most = last_tick(reader_->header().base.epoch_ticks);
  const Tick least = earliest_in_time();
  const auto take_out = [&block](auto goes, DropCause cause) {
    if (std::ranges::none_of(block.time, goes)) return;
    std::vector<bool> out(block.size());
    std::transform(block.time.begin(), block.time.end(), out.begin(), goes);
    leave_out_hits(block, out, cause);
  };
  take_out([most](Tick time) { return time > most; }, DropCause::untimed);
  take_out([least](Tick time) { return time < least; }, DropCause::late);
}

/// Updates seen_end_ by everything received, including hits that the reader still holds back.
void EncodedStream::see(const HitBlock& block) {
  const auto held = reader_->holds_back();
  if (block.size() == 0 && !held) return;
  Tick newest = held.value_or(0);
  if (block.size() != 0) newest = std::max(newest, std::ranges::max(block.time));
  const std::uint32_t epoch_ticks = reader_->header().base.epoch_ticks;
  seen_end_ = std::max(seen_end_, std::min(epoch_of(newest, epoch_ticks), max_epoch(epoch_ticks)) + 1);
}

/// Waiting begins when the peer is back.
void EncodedStream::stand_still() {
  heard_ = std::chrono::steady_clock::now();
  for (auto& arrival : arrivals_) arrival.at = heard_;
}

/// Releases hits that have waited for longest_wait, or that exceed the memory limit.
void EncodedStream::release_waiting() {
  const auto now = std::chrono::steady_clock::now();
  const auto pushed = ordered_.blocks_pushed();
  if (std::exchange(arrived_, pushed) != pushed) {
    arrivals_.push_back({now, pushed});
    heard_ = now;
  }
  if (live_->waits_for_peer && reader_->is_away()) stand_still();
  std::optional<std::uint32_t> due;  // blocks
  while (!arrivals_.empty() && now - arrivals_.front().at >= live_->longest_wait) {
    due = arrivals_.front().blocks;
    arrivals_.pop_front();
  }
  const bool too_much = ordered_.held_bytes() > live_->most_bytes;
  if (due && (!too_much || *due == pushed)) {
    ordered_.release(*due);
  } else if (too_much) {
    ordered_.release(pushed - 1);  // all but the newest
  }
}

SourceCounts EncodedStream::counts() const {
  auto counts = reader_->counts();
  counts.counters.add(losses_before_);
  counts.counters.add(losses_.counters());
  return counts;
}

std::vector<std::string> EncodedStream::remarks() const {
  const auto left_out = losses_.counters()[source_dropped_hits(DropCause::cut)];
  if (!ended_ || encoder_.hits() != 0 || left_out == 0) return {};
  return {"where= leaves out all of its " + std::to_string(left_out) + " rows"};
}

void EncodedStream::end() {
  close_buffer();
  ended_ = true;
  if (first_epoch_ || !losses_.any()) return;
  first_epoch_ = Epoch(0);  // a stream of losses alone accounts for them in epoch 0
  end_epoch_ = 1;
}

/// Returns the newest chunk if the open buffer certainly fits, otherwise a new one.
HeldBuffers& EncodedStream::chunk_with_room() {
  const std::size_t needed = encoder_.open_bytes();
  if (!chunks_.empty() && chunks_.back().bytes.capacity() - chunks_.back().bytes.size() >= needed) {
    return chunks_.back();
  }
  drop_forgotten();
  if (spares_.empty()) {
    chunks_.emplace_back();
  } else {
    chunks_.push_back(std::move(spares_.back()));
    spares_.pop_back();
  }
  chunks_.back().bytes.reserve(std::max(kHeldChunkBytes, needed));
  return chunks_.back();
}

void EncodedStream::close_buffer() {
  if (!encoder_.open_from()) return;
  auto& chunk = chunk_with_room();
  const std::size_t at = chunk.bytes.size();
  const auto header = encoder_.close(chunk.bytes);
  chunk.buffers.push_back(
      {at, header->first_epoch, header->n_epochs, header->n_hits, header->n_words, header->words_crc});
}

void EncodedStream::collect(EpochRange epochs, SliceData& out) {
  read_until(epochs.end);
  losses_.collect(epochs, out.damage);
  collect_held(chunks_, epochs, out.pieces);
}

std::optional<Epoch> EncodedStream::next_beginning(Epoch from) {
  read_until(std::max<Epoch>(from, 1));
  const auto closed = next_held(chunks_, from);
  const auto buffer = closed ? closed : encoder_.open_from();
  const auto lost = losses_.next_beginning(from);
  return buffer && lost ? std::min(buffer, lost) : std::max(buffer, lost);
}

void EncodedStream::release_before(Epoch epoch) {
  losses_.release_before(epoch);
  forgotten_ = std::max(forgotten_, epoch);
  drop_forgotten();
}

bool EncodedStream::exchange_chunk(std::span<const std::byte> buffers, std::vector<std::byte>& memory) {
  auto& bytes = chunks_.front().bytes;
  if (buffers.data() != bytes.data() || buffers.size() != bytes.size()) return false;
  if (buffers.size() < bytes.capacity() / 3 * 2) return false;
  std::swap(bytes, memory);
  recycle_first();
  return true;
}

void EncodedStream::drop_forgotten() {
  while (!chunks_.empty() && chunks_.front().end() <= forgotten_) recycle_first();
}

/// The next chunk uses the memory of the oldest one again.
void EncodedStream::recycle_first() {
  chunks_.front().bytes.clear();
  chunks_.front().buffers.clear();
  spares_.push_back(std::move(chunks_.front()));
  chunks_.pop_front();
}

}  // namespace eventloom
