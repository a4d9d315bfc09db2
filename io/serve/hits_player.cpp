#include "io/serve/hits_player.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/runtime/error.hpp"
#include "io/event_files/event_target.hpp"

namespace eventloom {

namespace {

EventFileRun about(const StreamHeader& header) {
  EventFileRun run;
  run.descriptions = {header.text};
  run.tick_ps = header.base.tick_ps;
  run.numbered = (header.flags & kNumbered) != 0;
  return run;
}

}  // namespace

HitsPlayer::HitsPlayer(std::unique_ptr<HitReader> reader)
    : reader_(std::move(reader)),
      numbered_((reader_->header().flags & kNumbered) != 0),
      triggered_(numbered_ || hit_origin_of(reader_->header().text).kind != HitKind::plain),
      events_(make_lmd_events(about(reader_->header()))) {
  if ((reader_->header().flags & kSorted) == 0) return;
  throw UserError("'" + reader_->name() + "' holds time-sorted hits of a run; serve the run's output instead");
}

bool HitsPlayer::next() {
  if (at_ == hits_.size() && !read_epoch()) return false;
  event_ = &events_.make(view_of(event_end()), ++number_);
  return true;
}

std::size_t HitsPlayer::event_end() const {
  if (!triggered_) return hits_.size();
  const auto begin = hits_.begin() + static_cast<std::ptrdiff_t>(at_);
  const auto end = std::find_if(begin, hits_.end(), [&](const Hit& hit) { return hit.time != begin->time; });
  return static_cast<std::size_t>(end - hits_.begin());
}

/// Takes the hits up to `end`, which form the next event.
EventHits HitsPlayer::view_of(std::size_t end) {
  columns_.clear();
  for (; at_ < end; ++at_) {
    const auto& hit = hits_[at_];
    const auto words = std::span(words_).subspan(hit.first_word, hit.words);
    columns_.time.push_back(hit.time);
    columns_.channel.push_back(hit.channel);
    columns_.source.push_back(0);
    columns_.payload_words.push_back(hit.words);
    columns_.payload.insert(columns_.payload.end(), words.begin(), words.end());
  }
  return {.time = columns_.time.front(),
          .duration = columns_.time.back() - columns_.time.front(),
          .times = columns_.time,
          .channels = columns_.channel,
          .sources = columns_.source,
          .payload_words = columns_.payload_words,
          .payload = columns_.payload};
}

/// Reads the hits of the next epoch that has any; returns false at the end.
bool HitsPlayer::read_epoch() {
  hits_.clear();
  words_.clear();
  at_ = 0;
  const auto ticks = reader_->header().base.epoch_ticks;
  while (in_block_ < block_.size() || read_block()) {
    const auto time = block_.time[in_block_];
    if (!hits_.empty() && epoch_of(time, ticks) != epoch_of(hits_.front().time, ticks)) break;
    const auto words = block_.payload_of(in_block_);
    hits_.push_back({time, block_.channel[in_block_], static_cast<std::uint32_t>(words.size()), words_.size()});
    words_.insert(words_.end(), words.begin(), words.end());
    ++in_block_;
  }
  std::ranges::stable_sort(hits_, {}, &Hit::time);
  return !hits_.empty();
}

/// Reads the next block with hits; returns false at the end.
bool HitsPlayer::read_block() {
  in_block_ = 0;
  while (reader_->read(block_)) {
    losses_ += block_.losses.size();
    if (block_.size() != 0) return true;
  }
  block_.clear();
  return false;
}

std::optional<Tick> HitsPlayer::time() const {
  if (numbered_) return std::nullopt;
  return nanoseconds_of(columns_.time.front(), reader_->header().base.tick_ps);
}

}  // namespace eventloom
