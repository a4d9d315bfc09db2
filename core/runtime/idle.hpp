#pragma once

#include <chrono>
#include <cstdint>

namespace eventloom {

/// How a rank waits when none of its roles has work.
class IdlePolicy {
 public:
  virtual ~IdlePolicy() = default;
  /// Waits briefly, and not much beyond `due`, when there will be work even if nothing arrives; called repeatedly while
  /// there is no work.
  virtual void wait_until(std::chrono::steady_clock::time_point due) = 0;
  void wait() { wait_until(std::chrono::steady_clock::time_point::max()); }
  /// Call when there was work.
  virtual void reset() = 0;
};

/// Polls at first, then yields its core to other ranks (which may outnumber the cores), and after a long time sleeps
/// briefly between polls. Ignores `due`.
class Idle final : public IdlePolicy {
 public:
  void wait_until(std::chrono::steady_clock::time_point due) override;
  void reset() override { idle_ = 0; }

 private:
  std::uint32_t idle_ = 0;
};

}  // namespace eventloom
