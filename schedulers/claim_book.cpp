#include "schedulers/claim_book.hpp"

#include <algorithm>
#include <cstddef>

namespace eventloom {

void ClaimBook::append(BuilderId builder) {
  if (builder.value >= slices_.size()) slices_.resize(builder.value + std::size_t{1});
  slices_[builder.value].push_back(end_);
  order_.push_back(builder);
  ++end_.value;
  if (order_.size() <= keep_) return;
  slices_[order_.front().value].pop_front();
  order_.pop_front();
}

void ClaimBook::skip_to(SliceId slice) { end_ = std::max(end_, slice); }

std::optional<SliceId> ClaimBook::next_slice(BuilderId builder, SliceId from) const {
  if (builder.value >= slices_.size()) return std::nullopt;
  const auto& slices = slices_[builder.value];
  const auto next = std::ranges::lower_bound(slices, from);
  return next == slices.end() ? std::nullopt : std::optional(*next);
}

}  // namespace eventloom
