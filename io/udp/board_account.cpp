#include "io/udp/board_account.hpp"

#include <algorithm>
#include <limits>

namespace eventloom {

namespace {

void add_damage(DropCause cause, std::uint64_t hits, EpochRange at, FeedBatch& out) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  do {
    const auto n = std::min(hits, kMost);
    out.damage.push_back({.first_epoch = at.begin,
                          .n_epochs = std::max<Epoch>(at.end - at.begin, 1),
                          .n_hits = static_cast<std::uint32_t>(n),
                          .cause = cause});
    hits -= n;
  } while (hits != 0);
}

}  // namespace

void BoardAccount::begin_session(bool from_zero) {
  hits_ = from_zero ? std::optional<std::uint64_t>(0) : std::nullopt;
  sent_ = 0;
}

bool BoardAccount::fits(const EpochBufferHeader& header) const {
  if (header.hits_before > std::numeric_limits<std::uint64_t>::max() - header.n_hits) return false;
  return !hits_ || fits(header.hits_before);
}

void BoardAccount::join(std::uint64_t hits) {
  if (hits_) return;
  hits_ = hits;
  break_in_stream_ |= hits != 0;
}

void BoardAccount::see(const EpochBufferHeader& header) {
  join(header.hits_before);
  sent_ = std::max(sent_, header.hits_before + header.n_hits);
}

void BoardAccount::drop(DropCause cause, std::uint64_t hits) {
  auto& dropped = dropped_[static_cast<std::size_t>(cause)];
  ++dropped.buffers;
  dropped.hits += hits;
}

std::uint64_t BoardAccount::dropped_hits() const {
  std::uint64_t hits = 0;
  for (const auto& one : dropped_) hits += one.hits;
  return hits;
}

std::uint64_t BoardAccount::settle(std::uint64_t hits_sent, EpochRange at, FeedBatch& out) {
  std::uint64_t missing = hits_ ? hits_sent - std::min(hits_sent, *hits_) : dropped_hits();
  for (std::size_t i = 0; i < kDropCauses; ++i) {
    const auto& dropped = dropped_[i];
    if (dropped.buffers == 0) continue;
    const auto hits = std::min(dropped.hits, missing);
    missing -= hits;
    add_damage(static_cast<DropCause>(i), hits, at, out);
  }
  // The number of hits in a buffer with an unreadable header was unknown.
  if (missing != 0 && lost_buffers_ == 0 && dropped_[static_cast<std::size_t>(DropCause::corrupt)].buffers != 0) {
    add_damage(DropCause::corrupt, missing, at, out);
    missing = 0;
  }
  const bool break_shows = break_in_stream_ && at.end > at.begin;
  if (missing != 0 || lost_buffers_ != 0 || break_shows) add_damage(DropCause::lost, missing, at, out);
  lost_buffers_ = 0;
  dropped_ = {};
  break_in_stream_ = break_in_stream_ && at.end == at.begin;
  if (hits_) hits_ = std::max(*hits_, hits_sent);
  return missing;
}

std::uint64_t BoardAccount::settle_all(Epoch at, FeedBatch& out) {
  const std::uint64_t before = hits_.value_or(0);
  return settle(before + std::max(dropped_hits(), std::max(sent_, before) - before), {at, at}, out);
}

}  // namespace eventloom
