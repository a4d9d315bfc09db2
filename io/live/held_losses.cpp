#include "io/live/held_losses.hpp"

#include <algorithm>
#include <numeric>

#include "io/live/damage_records.hpp"

namespace eventloom {

void HeldLosses::add(const Damage& damage, Epoch closed, Epoch used_end) {
  if (!merge(damage, closed, used_end)) {
    records_.insert(std::ranges::upper_bound(records_, damage.first_epoch, {}, &Damage::first_epoch), damage);
  }
  end_ = std::max({end_, damage.first_epoch + 1, end_of(damage)});
}

/// If there are too many records, merges any of the same cause. Returns false if no record fits.
bool HeldLosses::merge(const Damage& damage, Epoch closed, Epoch used_end) {
  const bool too_many = records_.size() >= kMostDamage;
  const std::size_t near = std::min<std::size_t>(records_.size(), too_many ? kDropCauses : 1);
  for (std::size_t back = 1; back <= near; ++back) {
    auto& other = records_[records_.size() - back];
    const bool nothing_used = damage.cause == DropCause::congested && std::max(used_end, end_) <= end_of(other);
    const bool touches = too_many || nothing_used || damage.first_epoch <= end_of(other);
    if (other.first_epoch >= closed && touches && extend(other, damage)) return true;
  }
  return false;
}

void HeldLosses::clear() {
  records_.clear();
  end_ = 0;
}

void HeldLosses::collect(EpochRange epochs, std::vector<Damage>& out) const {
  for (const auto& damage : records_) {
    if (damage.first_epoch >= epochs.end) break;
    if (end_of(damage) > epochs.begin || epochs.contains(damage.first_epoch)) out.push_back(damage);
  }
}

std::deque<Damage>::const_iterator HeldLosses::first_from(Epoch epoch) const {
  return std::ranges::lower_bound(records_, epoch, {}, &Damage::first_epoch);
}

std::optional<Epoch> HeldLosses::next_beginning(Epoch from) const {
  const auto next = first_from(from);
  return next == records_.end() ? std::nullopt : std::optional(next->first_epoch);
}

void HeldLosses::release_before(Epoch epoch) {
  while (!records_.empty() && records_.front().first_epoch < epoch && end_of(records_.front()) <= epoch) {
    records_.pop_front();
  }
}

std::uint64_t HeldLosses::hits_from(Epoch epoch) const {
  return std::accumulate(first_from(epoch), records_.end(), std::uint64_t{0},
                         [](std::uint64_t hits, const Damage& damage) { return hits + damage.n_hits; });
}

std::vector<Damage> HeldLosses::take_from(Epoch epoch) {
  const auto first = first_from(epoch);
  std::vector<Damage> taken(first, records_.cend());
  records_.erase(first, records_.cend());
  return taken;
}

}  // namespace eventloom
