#include "core/transport/transport.hpp"

#include <utility>

namespace eventloom {

void Transport::note_put(int rank) {
  const auto r = static_cast<std::size_t>(rank);
  if (r >= targets_.size()) targets_.resize(r + 1);
  targets_[r].pending = true;
  pending_.push_back({rank, targets_[r].rounds});
  if (!is_near(rank) || std::exchange(targets_[r].listed, true)) return;
  put_near_.push_back(rank);
}

void Transport::flush(int rank) {
  if (!is_pending(rank)) return;
  complete_puts(rank);
  auto& target = targets_[static_cast<std::size_t>(rank)];
  target.pending = false;
  ++target.rounds;
  while (first_ < pending_.size() && rounds(pending_[first_].rank) > pending_[first_].round) ++first_;
  if (first_ < pending_.size() && first_ < pending_.size() / 2) return;
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
}

bool Transport::flush_oldest() {
  if (pending_.empty()) return false;
  flush(pending_[first_].rank);
  return true;
}

void Transport::flush_near() {
  for (const int rank : put_near_) {
    flush(rank);
    targets_[static_cast<std::size_t>(rank)].listed = false;
  }
  put_near_.clear();
}

void Transport::flush_all() {
  while (flush_oldest()) {
  }
}

}  // namespace eventloom
