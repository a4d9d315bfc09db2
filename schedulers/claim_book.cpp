#include "schedulers/claim_book.hpp"

#include <algorithm>
#include <cstddef>

namespace eventloom {

void ClaimBook::append(BuilderId builder) {
  if (builder.value >= builders_.size()) builders_.resize(builder.value + std::size_t{1});
  builders_[builder.value].last.push_back(end_);
  order_.push_back(builder);
  ++end_.value;
  if (order_.size() <= keep_) return;
  auto& oldest = builders_[order_.front().value];
  oldest.last.pop_front();
  oldest.asked -= std::min<std::size_t>(oldest.asked, 1);
  order_.pop_front();
}

void ClaimBook::skip_to(SliceId slice) { end_ = std::max(end_, slice); }

std::optional<SliceId> ClaimBook::next_slice(BuilderId builder, SliceId from) const {
  if (builder.value >= builders_.size()) return std::nullopt;
  const auto& [slices, asked] = builders_[builder.value];
  if (slices.empty() || slices.back() < from) return std::nullopt;
  while (asked > 0 && slices[asked - 1] >= from) --asked;
  while (slices[asked] < from) ++asked;
  return slices[asked];
}

}  // namespace eventloom
