#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/runtime/metrics.hpp"

namespace eventloom {

/// Events by their trigger type; those of types above 255 together.
class TriggerCounts {
 public:
  static constexpr std::size_t kTypes = 256;

  void count(std::size_t type) { ++n_[std::min(type, kTypes)]; }
  [[nodiscard]] std::uint64_t operator[](std::size_t type) const { return n_[type]; }
  void add(const TriggerCounts& other);
  /// trigger_1, trigger_2, ... where there are any; trigger_other.
  void add_to(CountsByName& counts) const;

 private:
  std::array<std::uint64_t, kTypes + 1> n_{};
};

/// What a source counts. Plain bytes.
struct SourceCounts {
  Counters counters;
  TriggerCounts triggers;

  void add(const SourceCounts& other);
  /// What is reported of it.
  [[nodiscard]] CountsByName by_name() const;
};

}  // namespace eventloom
