#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "formats/ids.hpp"
#include "schedulers/scheduler.hpp"

namespace eventloom {

/// The next slice of one source for each builder (kNoSlice while unknown), and the lowest of them.
class NextSlices {
 public:
  explicit NextSlices(std::size_t builders = 0) : next_(builders, kNoSlice) {}

  [[nodiscard]] std::span<const SliceId> all() const { return next_; }
  [[nodiscard]] SliceId operator[](std::size_t builder) const { return next_[builder]; }

  void set(std::size_t builder, SliceId slice) {
    if (slice < lowest_) {
      lowest_ = slice;
    } else if (next_[builder] == lowest_) {
      stale_ = true;
    }
    next_[builder] = slice;
  }

  /// Scans all builders only after the lowest has changed.
  [[nodiscard]] SliceId lowest() const {
    if (stale_) lowest_ = *std::ranges::min_element(next_);
    stale_ = false;
    return lowest_;
  }

 private:
  std::vector<SliceId> next_;  ///< indexed by builder
  mutable SliceId lowest_ = kNoSlice;
  mutable bool stale_ = false;  ///< the lowest may be higher than lowest_
};

}  // namespace eventloom
