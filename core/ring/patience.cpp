#include "core/ring/patience.hpp"

namespace eventloom {

bool Patience::exhausted() {
  const auto now = std::chrono::steady_clock::now();
  if (looks_++ == 0) begin_ = now;
  return looks_ >= least_looks_ && now - begin_ >= time_;
}

}  // namespace eventloom
