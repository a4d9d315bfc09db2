#include "io/live/step_filter.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "io/live/damage_records.hpp"

namespace eventloom {

namespace {

constexpr Epoch kMostEpoch = std::numeric_limits<Epoch>::max();

Epoch saturated(Epoch epoch, Epoch more) { return epoch > kMostEpoch - more ? kMostEpoch : epoch + more; }

}  // namespace

void StepFilter::begin_at(Epoch epoch, Epoch reach) {
  begun_ = fresh_ = true;
  if (limit_ != kMostEpoch) limit_ = saturated(epoch, reach);
  place_ = complete_ = 0;
  aside_.reset();
}

void StepFilter::expect(Epoch epoch) { limit_ = std::max(limit_, saturated(epoch, reach_)); }

bool StepFilter::take_out(FeedBatch& batch, Epoch open) {
  open_ = open;
  away_ = {};
  hits_out_ = 0;
  any_out_ = restarted_ = false;
  take_buffers(batch);
  take_complete(batch);
  confine(batch);
  return restarted_;
}

void StepFilter::take_buffers(FeedBatch& batch) {
  auto& bytes = batch.buffers;
  std::size_t kept = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto header = read_epoch_buffer_header(std::span(bytes).subspan(at));
    const std::size_t size = header->stored_bytes();
    const bool restarted_before = restarted_;
    if (take(*header)) {
      if (restarted_ && !restarted_before && kept != 0) {
        count_out(*read_epoch_buffer_header(bytes));
        kept = 0;
      }
      if (kept != at) std::memmove(bytes.data() + kept, bytes.data() + at, size);
      kept += size;
    } else {
      count_out(*header);
    }
    at += size;
  }
  bytes.resize(kept);
}

void StepFilter::count_out(const EpochBufferHeader& header) {
  any_out_ = true;
  hits_out_ += header.n_hits;
}

bool StepFilter::take(const EpochBufferHeader& header) {
  const auto epochs = header.epochs();
  const bool judged = begun_ || steps_ == 1;
  const bool in_step = epochs.begin >= place_ && (epochs.begin < limit_ || !judged);
  if (!in_step && !begun_ && steps_ == 1) {
    restarted_ = true;
    limit_ = complete_ = 0;
  } else if (!in_step) {
    aside_ = epochs.begin;
    return false;
  }
  if (aside_) note_return(epochs.begin);
  place_ = epochs.end;
  advance_to(epochs.end);
  return true;
}

/// Notes the stretch without data before a return. A stretch longer than reach_ is an accepted jump: no source has data
/// there.
void StepFilter::note_return(Epoch to) {
  const Epoch from = std::max({place_, complete_, open_});
  if (from < to && to - from <= reach_) away_ = {from, to};
}

void StepFilter::advance_to(Epoch to) {
  ++steps_;
  if (std::exchange(fresh_, false) && limit_ != kMostEpoch) limit_ = 0;
  expect(to);
  aside_.reset();
}

void StepFilter::take_complete(FeedBatch& batch) {
  if (begun_ && batch.seen_end > limit_) batch.seen_end = std::max(place_, complete_);
  if (begun_ && batch.complete >= limit_ && batch.complete > complete_) {
    if (!batch.ended) aside_ = batch.complete;
    batch.complete = complete_;
    return;
  }
  if (batch.complete <= complete_ || any_out_) {
    batch.complete = std::min(batch.complete, complete_);
    return;
  }
  complete_ = batch.complete;
  if (complete_ > place_) advance_to(complete_);
}

/// Confines damage to the stream's reach, and adds the removed data as damage at the stream's position.
void StepFilter::confine(FeedBatch& batch) const {
  for (auto& damage : batch.damage) {
    if (damage.n_epochs >= kForever || end_of(damage) <= limit_) continue;
    if (damage.first_epoch >= limit_) damage.first_epoch = place_;
    damage.n_epochs = std::max(place_, damage.first_epoch + 1) - damage.first_epoch;
  }
  if (any_out_) add_out(batch.damage);
  if (away_.begin < away_.end) {
    batch.damage.push_back(
        {.first_epoch = away_.begin, .n_epochs = away_.end - away_.begin, .cause = DropCause::out_of_step});
  }
  std::ranges::stable_sort(batch.damage, {}, &Damage::first_epoch);
}

void StepFilter::add_out(std::vector<Damage>& damage) const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  auto left = hits_out_;
  do {
    const auto n = std::min(left, kMost);
    damage.push_back({.first_epoch = place_,
                      .n_epochs = 1,
                      .n_hits = static_cast<std::uint32_t>(n),
                      .cause = DropCause::out_of_step});
    left -= n;
  } while (left != 0);
}

}  // namespace eventloom
