#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Unwraps the times of counters of limited width, which start again at 0: each becomes the number nearest to the
/// greatest so far, so hits may come out of order by up to half a turn, and none may be missing for longer. The width
/// is that of the key `bits`: `bits=32`, or `bits=0-15:32,16-31:48` where channels have counters of different width,
/// which count the same unit from the same moment.
class ClockTurns {
 public:
  /// Nothing is unwrapped.
  ClockTurns() = default;
  /// Nor without the key. Throws UserError when it is invalid.
  explicit ClockTurns(const SourceUri& uri);

  [[nodiscard]] bool any() const { return !clocks_.empty(); }
  /// Nothing when the number is wider than the counter of its channel, or that has none.
  std::optional<std::uint64_t> extend(std::uint64_t number, std::uint32_t channel);
  /// Why extend() gave nothing.
  [[nodiscard]] std::string complaint(std::uint64_t number, std::uint32_t channel) const;
  /// How often counters have started again.
  [[nodiscard]] std::uint64_t turns() const;

 private:
  struct Clock {
    std::uint32_t first_channel = 0;
    std::uint32_t last_channel = 0;
    unsigned bits = 0;
    std::optional<std::uint64_t> first_turn;  ///< that the counter was seen in
    std::uint64_t last_turn = 0;
  };

  /// Its place in clocks_; their number where there is none.
  [[nodiscard]] std::size_t clock_of(std::uint32_t channel) const;

  std::vector<Clock> clocks_;
  std::optional<std::uint64_t> now_;  ///< the greatest number so far
};

}  // namespace eventloom
