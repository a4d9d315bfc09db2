#pragma once

#include <cstdint>

namespace eventloom {

/// How a rank waits when none of its roles finds work: at first it only looks again, then it yields
/// its core to other ranks (of which there may be more than cores), after long it sleeps a little.
class Idle {
 public:
  void wait();
  void reset() { idle_ = 0; }

 private:
  std::uint32_t idle_ = 0;
};

}  // namespace eventloom
