#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/runtime/metrics.hpp"
#include "formats/event.hpp"

namespace eventloom {

/// Judges the event numbers of one source, which wrap around, so that accepted numbers strictly ascend. Only the next
/// event shows whether an event is credible, so a judgement may take back the previous one.
///
/// - Repeated number: if the previous event was an incomplete copy of this one, as some writers leave at the end of a
///   buffer, the previous one is dropped (repeated_incomplete); otherwise this one is (duplicate).
/// - Number that goes back: this event is dropped; as duplicate if the number is among the last 2^16 and was used, as
///   out_of_step otherwise.
/// - Jump ahead: a gap if the next different number does not go back; otherwise the event that jumped is dropped
///   (out_of_step). The first event is also dropped if the second goes back or jumps by more than 2^24, and the last
///   one after more than 1000 missing numbers.
class EventNumbers {
 public:
  static constexpr Tick kEraTicks = 1'000'000'000;
  /// Minimum width: narrower numbers wrap around too often to show what is missing.
  static constexpr unsigned kFewestBits = 16;

  /// `bits`: width of the numbers passed to this object.
  explicit EventNumbers(unsigned bits);

  struct Judgement {
    std::optional<DropCause> previous;  ///< why the previous event, kept until now, must be dropped
    std::optional<DropCause> current;   ///< why this event must be dropped
    Tick tick = 0;                      ///< the unwrapped number of this event if it is kept
  };
  /// `completes_previous`: the last kept event is an incomplete copy of this one; used only if the numbers are equal.
  Judgement judge(std::uint32_t number, bool completes_previous);
  /// Whether the previous event has this `number`, was kept, and has not been taken back.
  [[nodiscard]] bool repeats(std::uint32_t number) const;
  /// Signed step from the last kept number to `number`; std::nullopt before the first event.
  [[nodiscard]] std::optional<std::int64_t> step(std::uint32_t number) const;
  /// The counter restarts with an event of this number; finish() must have judged the previous event. The new era
  /// starts at the next multiple of kEraTicks. Returns the tick of `number`.
  Tick begin_era(std::uint32_t number);
  /// Adds a multiple of their range to all numbers. Valid only in the first era.
  void raise(Tick by);
  /// First number of the stream, if any, including raise().
  [[nodiscard]] std::optional<Tick> first() const {
    return any_ ? std::optional(first_ ? last_ : lowest_) : std::nullopt;
  }
  /// Offset added to the numbers of the current era.
  [[nodiscard]] Tick offset() const { return offset_; }
  /// Width of a counter of fewer bits than these numbers have, which seems to have wrapped around: numbers went back
  /// near 0 when they were near 2^N, and none is beyond. Call it when the stream has ended; only the first call
  /// returns it.
  std::optional<unsigned> narrower();
  /// Counts a known duplicate that was dropped.
  void repeat() { ++counters_[Metric::duplicate_numbers]; }
  /// Another source of the run has reached `number`: confirms the last event if its number is not far beyond.
  void confirm(Tick number);
  /// Whether the last event is the first and has not been confirmed.
  [[nodiscard]] bool doubts_first() const { return first_; }
  /// Ends the stream. Returns why the last event must be dropped, if it must.
  std::optional<DropCause> finish();
  /// Whether finish() would keep the last event.
  [[nodiscard]] bool stays() const;

  /// first_number, last_number (unwrapped), missing_numbers, duplicate_numbers, repeated_incomplete, out_of_step.
  [[nodiscard]] Counters counters() const;

 private:
  [[nodiscard]] std::int64_t step_to(std::uint32_t number) const;
  [[nodiscard]] bool used(Tick number) const;
  void believe();
  void clear(Tick begin, Tick end);
  void note_wrap(std::uint32_t number);
  Judgement judge_first(std::uint32_t number);
  bool take_back(std::uint32_t number);
  DropCause drop(DropCause cause);

  unsigned bits_;
  unsigned narrower_ = 0;  ///< width of a counter that seems to have wrapped around; 0: none
  bool any_ = false;
  bool at_hand_ = false;    ///< the event of last_ can still be taken back
  bool doubted_ = false;    ///< last_ has not been confirmed yet
  bool first_ = false;      ///< last_ is the first number of the stream
  Tick offset_ = 0;         ///< offset of the era
  Tick last_ = 0;           ///< number of the last kept event
  Tick believed_ = 0;       ///< last confirmed number, at most last_
  Tick lowest_ = 0;         ///< first number of the stream
  std::vector<bool> used_;  ///< indexed by the low bits of the number
  Counters counters_{Metric::missing_numbers, Metric::duplicate_numbers, Metric::repeated_incomplete,
                     Metric::out_of_step};
};

}  // namespace eventloom
