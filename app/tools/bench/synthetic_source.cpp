#include "app/tools/bench/synthetic_source.hpp"

#include <algorithm>

namespace eventloom {

namespace {

constexpr std::uint64_t kBytesBetweenLooks = 65536;

}  // namespace

SyntheticSource::SyntheticSource(std::shared_ptr<const PayloadPool> pool, Limits limits, MessageTimes* times)
    : pool_(std::move(pool)), limits_(limits), times_(times) {
  if (limits_.slices != 0) end_ = Epoch(limits_.slices);
}

// Slices below the highest one collected are sent even after the time is up, so that every builder gets all its slices.
void SyntheticSource::collect(EpochRange epochs, SliceData& out) {
  if (!end_ && time_is_up(pool_->largest())) end_ = highest_;
  if (end_ && epochs.begin >= *end_) return;
  highest_ = std::max(highest_, epochs.end);
  if (times_ != nullptr) times_->sent(epochs.begin.value);
  out.pieces.push_back(pool_->message(epochs.begin.value));
}

bool SyntheticSource::time_is_up(std::uint64_t bytes) {
  bytes_since_look_ += bytes;
  if (start_ && bytes_since_look_ < kBytesBetweenLooks) return false;
  bytes_since_look_ = 0;
  const auto now = std::chrono::steady_clock::now();
  if (!start_) start_ = now;
  return limits_.seconds > 0 && std::chrono::duration<double>(now - *start_).count() >= limits_.seconds;
}

}  // namespace eventloom
