#pragma once

#include <chrono>
#include <cstdint>

namespace eventloom {

/// How a rank waits when none of its roles finds work.
class IdlePolicy {
 public:
  virtual ~IdlePolicy() = default;
  /// Waits a little, and not much beyond `due`, when there will be something to do though nothing arrives; called
  /// repeatedly while there is nothing to do.
  virtual void wait_until(std::chrono::steady_clock::time_point due) = 0;
  void wait() { wait_until(std::chrono::steady_clock::time_point::max()); }
  /// There was something to do.
  virtual void reset() = 0;
};

/// At first it only polls, then it yields its core to other ranks (of which there may be more than cores), after a long
/// time it sleeps a little.
class Idle final : public IdlePolicy {
 public:
  void wait_until(std::chrono::steady_clock::time_point due) override;
  void reset() override { idle_ = 0; }

 private:
  std::uint32_t idle_ = 0;
};

}  // namespace eventloom
