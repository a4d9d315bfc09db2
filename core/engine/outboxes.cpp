#include "core/engine/outboxes.hpp"

#include <algorithm>

namespace eventloom {

bool Outboxes::pump(std::size_t builder) {
  auto& outbox = all_[builder];
  const bool moved = outbox.pump();
  pumped_.push_back(builder);
  if (outbox.free()) {
    busy_.erase(builder);
  } else {
    busy_.insert(builder);
  }
  return moved;
}

void Outboxes::publish() {
  std::ranges::sort(pumped_);
  pumped_.erase(std::unique(pumped_.begin(), pumped_.end()), pumped_.end());
  for (const auto builder : pumped_) all_[builder].publish();
  pumped_.clear();
}

}  // namespace eventloom
