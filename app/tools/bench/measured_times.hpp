#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/document/latency_histogram.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

/// What a benchmark keeps of its times in addition to their distribution.
struct TimesKept {
  std::optional<std::int64_t> limit_ns;  ///< count the times above it
  bool each = false;                     ///< keep each time, in order: 8 bytes
};

/// The times of one kind that a benchmark has measured: their histogram, and the exact number above a limit.
class MeasuredTimes {
 public:
  explicit MeasuredTimes(TimesKept kept = {}) : kept_(kept) {}

  void add(std::int64_t ns);
  /// Adds the times of `other`, which has the same limit.
  void add(const MeasuredTimes& other);

  [[nodiscard]] const LatencyHistogram& histogram() const { return histogram_; }
  /// Number of times greater than the limit; 0 without a limit.
  [[nodiscard]] std::uint64_t above_limit() const { return above_limit_; }
  /// All times in the order in which they were added; empty unless each is kept.
  [[nodiscard]] const std::vector<std::int64_t>& each() const { return each_; }

  /// Serialises everything, to send it to another rank, where unpack() adds it to times with the same TimesKept.
  [[nodiscard]] Json packed() const;
  void unpack(const Json& packed);

  /// The members of LatencyHistogram::to_json(), "bins": [[low_ns, high_ns, count], ...], those that are not empty, in
  /// ascending order, and with a limit "limit_ns", "above_limit" and "share_above_limit" (null without times).
  [[nodiscard]] Json to_json() const;

 private:
  TimesKept kept_;
  LatencyHistogram histogram_;
  std::uint64_t above_limit_ = 0;
  std::vector<std::int64_t> each_;
};

/// The histogram of a MeasuredTimes::to_json().
LatencyHistogram histogram_of(const Json& times);

}  // namespace eventloom
