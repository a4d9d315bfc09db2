#pragma once

#include <cstdint>
#include <optional>

#include "formats/geometry.hpp"

namespace eventloom {

/// How far a peer's clock is behind this host's. Data arrive after they are taken, so the smallest difference seen is
/// the limit.
class PeerClock {
 public:
  /// Data up to `data_end` have just arrived. `started_ns`: Unix time of tick 0, ns; 0: unknown, and nothing is known.
  void measure(std::int64_t started_ns, Epoch data_end, const TimeBase& base);
  /// Limit of the difference, including delays.
  [[nodiscard]] std::optional<std::int64_t> behind_ns() const { return behind_ns_; }

 private:
  std::optional<std::int64_t> behind_ns_;
};

}  // namespace eventloom
