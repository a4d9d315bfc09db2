#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/runtime/metrics.hpp"

namespace eventloom {

/// Events counted by trigger type; types above 255 share one counter.
class TriggerCounts {
 public:
  static constexpr std::size_t kTypes = 256;

  void count(std::size_t type) { ++n_[std::min(type, kTypes)]; }
  [[nodiscard]] std::uint64_t operator[](std::size_t type) const { return n_[type]; }
  void add(const TriggerCounts& other);
  [[nodiscard]] TriggerCounts since(const TriggerCounts& before) const;
  /// Adds the nonzero counts, named trigger_0 to trigger_255 and trigger_other.
  void add_to(CountsByName& counts) const;

 private:
  std::array<std::uint64_t, kTypes + 1> n_{};
};

/// Counts kept by a source. Plain bytes.
struct SourceCounts {
  Counters counters;
  TriggerCounts triggers;

  void add(const SourceCounts& other);
  /// Returns what was counted after `before`, an earlier state of these counts.
  [[nodiscard]] SourceCounts since(const SourceCounts& before) const;
  /// The counts to report.
  [[nodiscard]] CountsByName by_name() const;
};

}  // namespace eventloom
