#pragma once

#include <cstdint>

namespace eventloom {

/// How a rank waits when none of its roles finds work.
class IdlePolicy {
 public:
  virtual ~IdlePolicy() = default;
  /// Waits a little; called repeatedly while there is nothing to do.
  virtual void wait() = 0;
  /// There was something to do.
  virtual void reset() = 0;
};

/// At first it only polls, then it yields its core to other ranks (of which there may be more than cores), after a long
/// time it sleeps a little.
class Idle final : public IdlePolicy {
 public:
  void wait() override;
  void reset() override { idle_ = 0; }

 private:
  std::uint32_t idle_ = 0;
};

}  // namespace eventloom
