#pragma once

#include <cstdint>

#include "core/runtime/metrics.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Which records make no hits, by their flags, as the key `drop` says: fake ones, which are no pulses, and those of the
/// kinds that it lists; none of them with drop=none.
class CompassFlags {
 public:
  /// Throws UserError when the key names another kind.
  explicit CompassFlags(const SourceUri& uri);

  /// Counts a record.
  void count(std::uint32_t flags);
  [[nodiscard]] bool drops(std::uint32_t flags) const { return (flags & dropped_) != 0; }
  [[nodiscard]] const Counters& counters() const { return counters_; }
  /// What an alarm of a board says; nothing when the flags have none.
  static const char* alarm(std::uint32_t flags);

 private:
  std::uint32_t dropped_;
  Counters counters_{Metric::fake_events, Metric::saturated_events, Metric::pile_up_events};
};

}  // namespace eventloom
