#include "schedulers/claim_book.hpp"

#include <algorithm>

namespace eventloom {

void ClaimBook::append(BuilderId builder) {
  claimed_.push_back({end_, builder});
  last_ = builder;
  ++end_.value;
  if (claimed_.size() > keep_) claimed_.pop_front();
}

void ClaimBook::skip_to(SliceId slice) { end_ = std::max(end_, slice); }

std::optional<SliceId> ClaimBook::next_slice(BuilderId builder, SliceId from) const {
  const auto first = std::ranges::lower_bound(claimed_, from, {}, &ClaimedSlice::slice);
  const auto found = std::find_if(first, claimed_.end(), [&](const ClaimedSlice& c) { return c.builder == builder; });
  return found == claimed_.end() ? std::nullopt : std::optional(found->slice);
}

}  // namespace eventloom
