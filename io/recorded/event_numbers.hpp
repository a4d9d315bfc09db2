#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/runtime/metrics.hpp"
#include "formats/event.hpp"

namespace eventloom {

/// Judges the event numbers of one source, 32 bits that wrap around, so that each number is used
/// once and all rise. Only the event behind one tells whether it is to be believed, so a judgement
/// may take back the event before.
///
/// - The number of the event before again: if that one was an unfinished copy of this one, as some
///   writers leave at the end of a buffer, it goes (repeated_incomplete); otherwise this one
///   (duplicate).
/// - A number that goes back: this event goes, as duplicate when the number is one of the last 2^16 and was
///   used, as out_of_step otherwise.
/// - A jump ahead is a gap when the next other number does not go back; otherwise the event that
///   jumped goes (out_of_step). So does the first event when the second goes back or jumps by more
///   than 2^24, and the last one behind more than 1000 missing numbers.
class EventNumbers {
 public:
  static constexpr Tick kEraTicks = 1'000'000'000;

  EventNumbers();

  struct Judgement {
    std::optional<DropCause> previous;  ///< the event before, kept until now, must go
    std::optional<DropCause> current;   ///< this event must go
    Tick tick = 0;                      ///< the number, unwrapped, of this event if it is kept
  };
  /// `completes_previous`: the last event that was kept is an unfinished copy of this one; asked for
  /// only where the numbers are the same.
  Judgement judge(std::uint32_t number, bool completes_previous);
  /// Whether `number` is that of the event before, if that was kept and has not been taken back.
  [[nodiscard]] bool repeats(std::uint32_t number) const;
  /// From the last number kept to `number`; nothing before the first.
  [[nodiscard]] std::optional<std::int64_t> step(std::uint32_t number) const;
  /// The counter begins anew with an event of this number, behind the one that finish() has judged: its era goes on at
  /// the next multiple of kEraTicks. Returns the tick of `number`.
  Tick begin_era(std::uint32_t number);
  /// Of the era: what is added to its numbers.
  [[nodiscard]] Tick offset() const { return offset_; }
  /// An event that is known to be there already is left out.
  void repeat() { ++counters_[Metric::duplicate_numbers]; }
  /// The end of the stream: why the last event must go, if it must.
  std::optional<DropCause> finish();
  /// Whether finish() would keep the last event.
  [[nodiscard]] bool stays() const;

  /// first_number, last_number (unwrapped), missing_numbers, duplicate_numbers,
  /// repeated_incomplete, out_of_step.
  [[nodiscard]] Counters counters() const;

 private:
  [[nodiscard]] std::int64_t step_to(std::uint32_t number) const;
  [[nodiscard]] bool used(Tick number) const;
  void believe();
  void forget(Tick begin, Tick end);
  Judgement judge_first(std::uint32_t number);
  bool take_back(std::uint32_t number);
  DropCause drop(DropCause cause);

  bool any_ = false;
  bool at_hand_ = false;    ///< the event of last_ can still be taken back
  bool doubted_ = false;    ///< last_ is yet to be believed
  bool first_ = false;      ///< last_ is the first number of all
  Tick offset_ = 0;         ///< of the era
  Tick last_ = 0;           ///< of the last event kept
  Tick believed_ = 0;       ///< the one before it that was believed
  Tick lowest_ = 0;         ///< first number of all
  std::vector<bool> used_;  ///< by the low bits of the number
  Counters counters_{Metric::missing_numbers, Metric::duplicate_numbers, Metric::repeated_incomplete,
                     Metric::out_of_step};
};

}  // namespace eventloom
