#pragma once

#include <chrono>
#include <cstdint>

namespace eventloom {

/// How often, and for how long, an announced item is rechecked until it is valid.
class Patience {
 public:
  Patience() = default;
  Patience(std::uint64_t least_looks, std::chrono::nanoseconds time) : least_looks_(least_looks), time_(time) {}

  /// Call after a failed check. Returns whether enough checks have failed since the last reset(), both in number and in
  /// time: a rank that was stopped for a while checks again before it gives up.
  [[nodiscard]] bool exhausted();
  void reset() { looks_ = 0; }

 private:
  // The MPI standard requires a cell to be complete before it is announced. Networks with relaxed ordering may be
  // late by microseconds.
  std::uint64_t least_looks_ = 1000;
  std::chrono::nanoseconds time_ = std::chrono::seconds(5);
  std::uint64_t looks_ = 0;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace eventloom
