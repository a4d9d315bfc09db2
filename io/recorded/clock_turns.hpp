#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Unwraps the times of counters of limited width. Each time becomes the number nearest to the greatest one so far, so
/// hits may be out of order by up to half a turn, and gaps must be shorter than that. The key `bits` gives the width:
/// `bits=32`, or `bits=0-15:32,16-31:48` if the counters of channels differ in width; all must count the same unit from
/// the same moment.
class ClockTurns {
 public:
  /// Unwraps nothing.
  ClockTurns() = default;
  /// Reads the key `bits`; without it, nothing is unwrapped. Throws UserError when it is invalid.
  explicit ClockTurns(const SourceUri& uri);

  [[nodiscard]] bool any() const { return !clocks_.empty(); }
  /// The unwrapped number; std::nullopt if the channel has no counter, `number` is wider than the counter, or the
  /// result overflows.
  std::optional<std::uint64_t> extend(std::uint64_t number, std::uint32_t channel);
  /// Why extend() returned std::nullopt.
  [[nodiscard]] std::string defect(std::uint64_t number, std::uint32_t channel) const;
  /// How often counters have wrapped around.
  [[nodiscard]] std::uint64_t turns() const;

 private:
  struct Clock {
    std::uint32_t first_channel = 0;
    std::uint32_t last_channel = 0;
    unsigned bits = 0;
    std::optional<std::uint64_t> first_turn;  ///< turn in which the counter was first seen
    std::uint64_t last_turn = 0;
  };

  /// Index of the channel's counter in clocks_; clocks_.size() if it has none.
  [[nodiscard]] std::size_t clock_of(std::uint32_t channel) const;

  std::vector<Clock> clocks_;
  std::optional<std::uint64_t> now_;  ///< greatest number so far
};

}  // namespace eventloom
