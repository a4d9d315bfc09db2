#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/runtime/metrics.hpp"
#include "formats/event.hpp"

namespace eventloom {

/// Judges the event numbers of one source, which wrap around, so that each number is used once and all rise.
/// Only the next event shows whether an event is credible, so a judgement may take back the previous one.
///
/// - The number of the previous event again: if that one was an unfinished copy of this one, as some writers leave at
/// the end of a buffer, it is dropped (repeated_incomplete); otherwise this one is (duplicate).
/// - A number that goes back: this event is dropped, as duplicate when the number is one of the last 2^16 and was used,
/// as out_of_step otherwise.
/// - A jump ahead is a gap when the next different number does not go back; otherwise the event that jumped is dropped
/// (out_of_step). So is the first event when the second goes back or jumps by more than 2^24, and the last one after
/// more than 1000 missing numbers.
class EventNumbers {
 public:
  static constexpr Tick kEraTicks = 1'000'000'000;
  /// A narrower number wraps around too often to tell what is missing.
  static constexpr unsigned kFewestBits = 16;

  /// Their width, which is that of the numbers given here.
  explicit EventNumbers(unsigned bits);

  struct Judgement {
    std::optional<DropCause> previous;  ///< the previous event, kept until now, must be dropped
    std::optional<DropCause> current;   ///< this event must be dropped
    Tick tick = 0;                      ///< the unwrapped number of this event if it is kept
  };
  /// `completes_previous`: the last event kept is an unfinished copy of this one; called only when the numbers are
  /// equal.
  Judgement judge(std::uint32_t number, bool completes_previous);
  /// Whether `number` is that of the previous event, if it was kept and has not been taken back.
  [[nodiscard]] bool repeats(std::uint32_t number) const;
  /// From the last number kept to `number`; nothing before the first.
  [[nodiscard]] std::optional<std::int64_t> step(std::uint32_t number) const;
  /// The counter restarts with an event of this number, after finish() has judged the previous one: its era starts at
  /// the next multiple of kEraTicks. Returns the tick of `number`.
  Tick begin_era(std::uint32_t number);
  /// Adds a multiple of their range to all numbers, before the first era ends.
  void raise(Tick by);
  /// Of the stream, if there is one; raise() counts.
  [[nodiscard]] std::optional<Tick> first() const {
    return any_ ? std::optional(first_ ? last_ : lowest_) : std::nullopt;
  }
  /// What is added to the numbers of the era.
  [[nodiscard]] Tick offset() const { return offset_; }
  /// An event that is known to be a duplicate is dropped.
  void repeat() { ++counters_[Metric::duplicate_numbers]; }
  /// Another source of the run has reached `number`: the last event is believed if its own is not far beyond.
  void confirm(Tick number);
  /// Whether the last event is the first, and nothing has confirmed it.
  [[nodiscard]] bool doubts_first() const { return first_; }
  /// The end of the stream: why the last event must be dropped, if it must.
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
  void clear(Tick begin, Tick end);
  Judgement judge_first(std::uint32_t number);
  bool take_back(std::uint32_t number);
  DropCause drop(DropCause cause);

  unsigned bits_;
  bool any_ = false;
  bool at_hand_ = false;    ///< the event of last_ can still be taken back
  bool doubted_ = false;    ///< last_ has not been confirmed yet
  bool first_ = false;      ///< last_ is the first number of the stream
  Tick offset_ = 0;         ///< of the era
  Tick last_ = 0;           ///< of the last event kept
  Tick believed_ = 0;       ///< the last confirmed one before it
  Tick lowest_ = 0;         ///< first number of the stream
  std::vector<bool> used_;  ///< by the low bits of the number
  Counters counters_{Metric::missing_numbers, Metric::duplicate_numbers, Metric::repeated_incomplete,
                     Metric::out_of_step};
};

}  // namespace eventloom
