#include "core/dataflow/removed_hits.hpp"

#include <algorithm>
#include <numeric>

namespace eventloom {

void RemovedHits::restart(const SliceBounds& bounds) {
  bounds_ = bounds;
  for (auto& counts : counts_) counts.fill(0);
  taken_out_.clear();
}

void RemovedHits::remove(std::uint16_t source, std::int64_t tick, DropCause cause) {
  const Tick at(tick);
  const bool here = tick < 0 ? is_first() : at >= bounds_.slice_begin && at < bounds_.slice_end;
  if (!here) return;
  add(source, cause, 1);
  if (lists_ && tick >= 0) taken_out_.push_back({at, source});
}

void RemovedHits::add(std::uint16_t source, DropCause cause, std::uint64_t n_hits) {
  counts_[source][static_cast<std::size_t>(cause)] += n_hits;
}

std::uint64_t RemovedHits::of(std::size_t source) const {
  const auto& counts = counts_[source];
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void RemovedHits::account(BuiltSlice& out) const {
  for (std::size_t s = 0; s < counts_.size(); ++s) {
    for (std::size_t i = 0; i < kDropCauses; ++i) {
      const auto n = counts_[s][i];
      const auto cause = static_cast<DropCause>(i);
      out.ledger.hits_dropped[i] += n;
      if (n != 0 && cause != DropCause::untimed) out.losses.push_back({static_cast<std::uint32_t>(s), cause, n});
    }
  }
}

std::span<const TakenOut> RemovedHits::taken_out() {
  std::ranges::sort(taken_out_);
  return taken_out_;
}

}  // namespace eventloom
