#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

namespace eventloom {

/// Memory for plain values that is reused from slice to slice and never initialised.
template <class T>
class Scratch {
 public:
  /// Returns room for at least `n` values; growing loses the contents.
  T* require(std::size_t n) {
    if (n > capacity_) {
      capacity_ = std::max(n, capacity_ + capacity_ / 2);
      values_ = std::make_unique_for_overwrite<T[]>(capacity_);
    }
    return values_.get();
  }
  [[nodiscard]] T* data() { return values_.get(); }
  [[nodiscard]] const T* data() const { return values_.get(); }

 private:
  std::unique_ptr<T[]> values_;
  std::size_t capacity_ = 0;
};

}  // namespace eventloom
