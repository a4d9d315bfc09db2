#include "core/transport/transport.hpp"

namespace eventloom {

void Transport::put(int rank, std::uint64_t offset, std::span<const std::byte> data) {
  note_put(rank);
  start_put(rank, offset, data);
}

void Transport::put_notice(int rank, std::uint64_t offset, std::span<const std::byte> data) {
  note_put(rank);
  start_notice(rank, offset, data);
}

void Transport::note_put(int rank) {
  const auto r = static_cast<std::size_t>(rank);
  if (r >= targets_.size()) targets_.resize(r + 1);
  auto& target = targets_[r];
  if (target.pending) return;
  target.pending = true;
  pending_.push_back({rank, target.rounds});
}

void Transport::flush(int rank) {
  const auto r = static_cast<std::size_t>(rank);
  if (r >= targets_.size() || !targets_[r].pending) return;
  complete_puts(rank);
  targets_[r] = {.rounds = targets_[r].rounds + 1, .pending = false};
  while (!pending_.empty() && rounds(pending_.front().rank) > pending_.front().round) pending_.pop_front();
}

bool Transport::flush_oldest() {
  if (pending_.empty()) return false;
  flush(pending_.front().rank);
  return true;
}

void Transport::flush_near() {
  const auto pending = pending_;
  for (const auto& [rank, round] : pending) {
    if (is_near(rank)) flush(rank);
  }
}

void Transport::flush_all() {
  while (flush_oldest()) {
  }
}

std::uint64_t Transport::rounds(int rank) const {
  const auto r = static_cast<std::size_t>(rank);
  return r < targets_.size() ? targets_[r].rounds : 0;
}

}  // namespace eventloom
