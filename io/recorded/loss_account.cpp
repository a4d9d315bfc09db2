#include "io/recorded/loss_account.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace eventloom {

void LossAccount::take(const HitBlock& block) {
  std::size_t seen = 0;
  for (const Loss& loss : block.losses) {
    if (loss.before > seen) {
      see(block.time[seen]);
      const auto stretch = std::span(block.time).subspan(seen, loss.before - seen);
      latest_ = std::max(*latest_, std::ranges::max(stretch));
      seen = loss.before;
    }
    any_ = true;
    hits_ += loss.hits;
    counters_[source_dropped_hits(loss.cause)] += loss.hits;
    without_hits_ += loss.hits == 0 ? 1 : 0;
    wait_for_hit(loss);
  }
  if (seen == block.size()) return;
  see(block.time[seen]);
  latest_ = std::max(*latest_, std::ranges::max(std::span(block.time).subspan(seen)));
}

/// Keeps a loss until the next hit is known. Losses of one kind before the same hit are merged, to bound memory.
void LossAccount::wait_for_hit(const Loss& loss) {
  for (auto& other : unplaced_) {
    const bool alike = other.cause == loss.cause && other.leaves_hole == loss.leaves_hole &&
                       other.breaks_off == loss.breaks_off &&
                       other.hits <= std::numeric_limits<std::uint32_t>::max() - loss.hits;
    if (!alike) continue;
    other.hits += loss.hits;
    return;
  }
  unplaced_.push_back(loss);
}

/// Places the pending losses before the next hit, which is at `time`.
void LossAccount::see(Tick time) {
  const Epoch first = epoch_of(latest_.value_or(time), epoch_ticks_);
  const bool hole = std::ranges::any_of(unplaced_, [this](const Loss& loss) { return is_hole(loss); });
  // The beginning of the stream is unknown, so the hole extends from epoch 0; the lost hits are placed at the first
  // hit.
  if (!latest_ && hole && !joined_ && first > 0) add({.first_epoch = 0, .n_epochs = first});
  for (const Loss& loss : unplaced_) place(loss, first, std::max(first, epoch_of(time, epoch_ticks_)));
  unplaced_.clear();
  latest_ = std::max(latest_.value_or(time), time);
}

void LossAccount::place(const Loss& loss, Epoch first, Epoch last) {
  add({.first_epoch = first,
       .n_epochs = is_hole(loss) ? last - first + 1 : 0,
       .file_offset = loss.offset,
       .n_hits = loss.hits,
       .cause = loss.cause});
}

/// Adds damage. Damage of one kind in one epoch is merged into one record, to bound memory.
void LossAccount::add(const Damage& damage) {
  const auto alike = [&damage](const Damage& d) {
    return d.n_epochs == damage.n_epochs && d.cause == damage.cause &&
           d.n_hits <= std::numeric_limits<std::uint32_t>::max() - damage.n_hits;
  };
  for (auto d = damage_.rbegin(); d != damage_.rend() && d->first_epoch == damage.first_epoch; ++d) {
    if (!alike(*d)) continue;
    d->n_hits += damage.n_hits;
    return;
  }
  damage_.push_back(damage);
}

void LossAccount::drop_copy(Epoch epoch) {
  any_ = true;
  ++hits_;
  ++counters_[source_dropped_hits(DropCause::copy)];
  const auto behind = std::ranges::upper_bound(damage_, epoch, {}, &Damage::first_epoch);
  const bool follows = behind != damage_.begin() && std::prev(behind)->first_epoch == epoch;
  if (follows && std::prev(behind)->cause == DropCause::copy) {
    ++std::prev(behind)->n_hits;
    return;
  }
  damage_.insert(behind, {.first_epoch = epoch, .n_hits = 1, .cause = DropCause::copy});
}

/// Places the remaining losses. A hole without a later hit has no end.
void LossAccount::finish() {
  const Epoch at = epoch_of(latest_.value_or(0), epoch_ticks_);
  for (const Loss& loss : unplaced_) place(loss, at, std::numeric_limits<Epoch>::max() - 1);
  if (std::ranges::any_of(unplaced_, [this](const Loss& loss) { return is_hole(loss); })) {
    tail_ = *std::ranges::max_element(damage_, {}, [](const Damage& d) { return d.first_epoch + d.n_epochs; });
  }
  unplaced_.clear();
}

void LossAccount::release_before(Epoch epoch) {
  const auto over = [epoch](const Damage& d) { return epochs_of(d).end <= epoch; };
  while (!damage_.empty() && over(damage_.front())) damage_.pop_front();
}

std::optional<Epoch> LossAccount::next_beginning(Epoch from) const {
  const auto next = std::ranges::lower_bound(damage_, from, {}, &Damage::first_epoch);
  return next == damage_.end() ? std::nullopt : std::optional(next->first_epoch);
}

void LossAccount::collect(EpochRange epochs, std::vector<Damage>& out) const {
  for (const Damage& damage : damage_) {
    if (damage.first_epoch >= epochs.end) break;
    if (epochs_of(damage).end > epochs.begin) out.push_back(damage);
  }
}

}  // namespace eventloom
