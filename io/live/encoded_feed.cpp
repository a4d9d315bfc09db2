#include "io/live/encoded_feed.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <span>
#include <utility>

#include "core/runtime/log.hpp"
#include "formats/epoch_buffer.hpp"
#include "io/live/damage_records.hpp"

namespace eventloom {

namespace {

/// Interval at which the feed's thread publishes its counts.
constexpr std::chrono::milliseconds kCountsEvery{100};

}  // namespace

EncodedFeed::EncodedFeed(std::unique_ptr<HitReader> reader, ReaderControl control, ReorderLimits reorder,
                         std::size_t most_bytes, LiveReading reading)
    : control_(std::move(control)), queue_(most_bytes) {
  reading.most_bytes = most_bytes;
  stream_ = std::make_unique<EncodedStream>(std::move(reader), reorder, reading);
  header_ = stream_->header();
  name_ = stream_->name();
  publish();
  thread_ = std::thread([this] { run(); });
}

EncodedFeed::~EncodedFeed() {
  control_.stop();
  queue_.stop();
  thread_.join();
}

void EncodedFeed::run() {
  try {
    while (follow() && restart()) {
    }
  } catch (const std::exception& error) {
    log::error("{}: {}; no more of it is read", name_, error.what());
    ++failures_;
    break_off();
  }
  publish();
  queue_.end();
}

/// Delivers the hits that were read before an error, and the loss of all that follow.
void EncodedFeed::break_off() {
  Epoch end = handed_;
  try {
    stream_->break_off();
    hand_over(std::numeric_limits<Epoch>::max());
    end = std::max(end, stream_->end_epoch().value_or(0));
  } catch (const std::exception& error) {
    log::error("{}: {}; what it had read is lost, too", name_, error.what());
  }
  const Damage rest{.first_epoch = end, .n_epochs = kForever, .cause = DropCause::lost};
  queue_.push({}, {&rest, 1});
}

/// Reads to the end of the stream. Returns false when the queue has been stopped.
bool EncodedFeed::follow() {
  for (auto end = stream_->read_on(settle_to_); end; end = stream_->read_on(settle_to_)) {
    if (!hand_over(*end)) return false;
    queue_.complete_to(*end);
    queue_.holds_back(stream_->begins(), stream_->seen_end());
    if (std::chrono::steady_clock::now() - published_ >= kCountsEvery) publish();
  }
  return hand_over(std::numeric_limits<Epoch>::max());
}

/// Starts a new stream after the peer's clock has gone back and epochs start again. Returns false when everything has
/// been read.
bool EncodedFeed::restart() {
  auto next = stream_->behind_the_jump();
  if (!next) return false;
  stream_ = std::move(next);
  handed_ = 0;
  return true;
}

/// Delivers undelivered data that begin before `end`. Returns false when the queue has been stopped.
bool EncodedFeed::hand_over(Epoch end) {
  if (end <= handed_) return true;
  const EpochRange epochs{handed_, end};
  data_.clear();
  stream_->collect(epochs, data_);
  std::erase_if(data_.damage, [epochs](const Damage& damage) { return !epochs.contains(damage.first_epoch); });
  std::span<const Damage> damage(data_.damage);
  for (std::size_t i = 0; i < data_.pieces.size(); ++i) {
    const bool last = i + 1 == data_.pieces.size();
    const Epoch next = last ? end : read_epoch_buffer_header(data_.pieces[i + 1])->first_epoch;
    const auto behind = std::ranges::lower_bound(damage, next, {}, &Damage::first_epoch);
    const auto n = static_cast<std::size_t>(behind - damage.begin());
    if (!push(data_.pieces[i], damage.first(n))) return false;
    damage = damage.subspan(n);
  }
  if (!damage.empty()) queue_.push({}, damage);
  handed_ = end;
  stream_->release_before(end);
  return true;
}

/// Hands over a chunk without a copy if it is nearly full, as it is while much arrives.
bool EncodedFeed::push(std::span<const std::byte> buffers, std::span<const Damage> damage) {
  if (!stream_->exchange_chunk(buffers, spare_)) return queue_.push(buffers, damage);
  return queue_.push_whole(spare_, damage);
}

/// Takes effect in the next turn of the feed's thread.
bool EncodedFeed::settle(Epoch end) {
  settle_to_ = std::max(settle_to_.load(), end);
  return true;
}

void EncodedFeed::publish() {
  const auto counts = stream_->counts();
  const std::lock_guard lock(mutex_);
  counts_ = counts;
  anomalies_ = stream_->anomalies() + failures_;
  published_ = std::chrono::steady_clock::now();
}

std::uint64_t EncodedFeed::anomalies() const {
  const std::lock_guard lock(mutex_);
  return anomalies_;
}

SourceCounts EncodedFeed::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace eventloom
