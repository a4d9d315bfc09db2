#pragma once

#include <cstdint>

#include "core/runtime/metrics.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Determines from the flags which records yield no hits: fake ones, which are not pulses, and the kinds that the key
/// `drop` lists. With drop=none, all records yield hits.
class CompassFlags {
 public:
  /// Throws UserError when the key names an unknown kind.
  explicit CompassFlags(const SourceUri& uri);

  /// Counts a record.
  void count(std::uint32_t flags);
  [[nodiscard]] bool drops(std::uint32_t flags) const { return (flags & dropped_) != 0; }
  [[nodiscard]] const Counters& counters() const { return counters_; }
  /// A description of a board's alarm; null if the flags have none.
  static const char* alarm(std::uint32_t flags);

 private:
  std::uint32_t dropped_;
  Counters counters_{Metric::fake_events, Metric::saturated_events, Metric::pile_up_events};
};

}  // namespace eventloom
