#include "schedulers/claim_book.hpp"

#include <algorithm>

namespace eventloom {

void ClaimBook::append(BuilderId builder) {
  builders_.push_back(builder);
  if (builder != kNobody) last_ = builder;
  ++end_.value;
  if (builders_.size() > keep_) builders_.pop_front();
}

std::optional<SliceId> ClaimBook::next_slice(BuilderId builder, SliceId from) const {
  const std::uint64_t first = end_.value - builders_.size();
  for (std::uint64_t slice = std::max(first, from.value); slice < end_.value; ++slice) {
    if (builders_[slice - first] == builder) return SliceId{slice};
  }
  return std::nullopt;
}

}  // namespace eventloom
