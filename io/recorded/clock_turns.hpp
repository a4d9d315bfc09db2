#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Unwraps the times of counters that turn: that start again at a fixed number. Each time becomes the number nearest to
/// the greatest one so far, so hits may be out of order by up to half a turn, and gaps must be shorter than that.
///
/// - `bits` gives the width of the counter: `bits=32`, or `bits=0-15:32,16-31:48` if the counters of channels differ in
///   width; all must count the same unit from the same moment. `bits=none`: the counter never turns.
/// - `modulus` gives the number at which the counter starts again, if it is not a power of two.
/// - `overflow`: rows of the input mark the turns, which are counted: pauses may have any length.
/// - `turns`: the turn in which the first number lies (0), of the widest counter.
class ClockTurns {
 public:
  /// Unwraps nothing.
  ClockTurns() = default;
  /// Reads the keys; without `bits` and `modulus`, nothing is unwrapped. Throws UserError when one is invalid.
  explicit ClockTurns(const SourceUri& uri);
  /// A counter of `bits` bits whose first number lies in turn `first_turn`.
  ClockTurns(unsigned bits, std::uint64_t first_turn);

  /// Whether the URI says that its times turn.
  static bool are_stated(const SourceUri& uri);
  /// Whether it says that they never do.
  static bool are_denied(const SourceUri& uri);
  /// The key `turns`.
  static std::uint64_t first_turn_of(const SourceUri& uri);

  [[nodiscard]] bool any() const { return !clocks_.empty(); }
  /// Null if nothing is unwrapped.
  [[nodiscard]] ClockTurns* if_any() { return any() ? this : nullptr; }
  /// Advances by `turns` turns, which a row of the input marks; 0 is one.
  void mark_turns(std::uint64_t turns);
  /// The unwrapped number; std::nullopt if the channel has no counter, `number` does not fit the counter, or the result
  /// overflows.
  std::optional<std::uint64_t> extend(std::uint64_t number, std::uint32_t channel);
  /// Likewise for a counter with a sign, as two's complement has it: -1 is the last number of a turn.
  std::optional<std::uint64_t> extend_signed(std::int64_t number, std::uint32_t channel);
  /// Why extend() returned std::nullopt for the number in `text`.
  [[nodiscard]] std::string defect(const std::string& text, std::uint32_t channel) const;
  /// Likewise for formats whose hits are not rows. Throws UserError, whose line begins with `place`, unless the URI has
  /// skip-bad=yes: then the hit is lost.
  [[nodiscard]] std::string misfit(const std::string& place, const std::string& text, std::uint32_t channel) const;
  /// Continues the counters of the file before this one. Both must have the same keys.
  void go_on_after(const ClockTurns& before);
  /// How often counters have started again since the beginning of the file.
  [[nodiscard]] std::uint64_t turns() const;

  /// The numbers of the widest counter in a file so far, unwrapped.
  struct Extent {
    std::uint64_t period = 0;  ///< numbers in a turn
    std::uint64_t first = 0;
    std::uint64_t lowest = 0;  ///< the least of `first` and the numbers that are late by less than an eighth of a turn
    std::uint64_t greatest = 0;
  };
  /// std::nullopt before its first number.
  [[nodiscard]] std::optional<Extent> extent() const;

 private:
  struct Clock {
    std::uint32_t first_channel = 0;
    std::uint32_t last_channel = 0;
    std::uint64_t period = 0;
    std::uint64_t turn_begin = 0;  ///< a multiple of the period, not above now_
    std::optional<std::uint64_t> first = {};
    std::uint64_t lowest = 0;
    std::uint64_t greatest = 0;
  };

  void read_bits(const SourceUri& uri);
  /// Index of the channel's counter in clocks_; clocks_.size() if it has none.
  [[nodiscard]] std::size_t clock_of(std::uint32_t channel) const;
  [[nodiscard]] const Clock& widest() const;
  [[nodiscard]] std::optional<std::uint64_t> in_marked_turn(std::uint64_t number) const;
  [[nodiscard]] std::optional<std::uint64_t> nearest(Clock& clock, std::uint64_t number) const;

  std::vector<Clock> clocks_;
  std::uint64_t first_turn_ = 0;
  bool counts_marks_ = false;         ///< rows mark the turns
  bool skips_bad_ = false;            ///< the key `skip-bad`
  std::uint64_t marked_ = 0;          ///< turns marked so far
  std::optional<std::uint64_t> now_;  ///< greatest number so far
};

}  // namespace eventloom
