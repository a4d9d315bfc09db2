#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "formats/stream_file.hpp"
#include "io/files/defect_log.hpp"
#include "io/lmd/lmd_eras.hpp"
#include "io/lmd/lmd_event.hpp"
#include "io/lmd/lmd_hits.hpp"
#include "io/lmd/lmd_notes.hpp"
#include "io/lmd/lmd_repeats.hpp"
#include "io/lmd/lmd_time.hpp"
#include "io/recorded/event_numbers.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/recorded/kept_event.hpp"
#include "io/recorded/time_steps.hpp"

namespace eventloom {

/// Stream header for the events of `uri`: source and clock, the rule of formats/lmd.hpp, and the origin of the times.
StreamHeader lmd_stream_header(const SourceUri& uri, SourceId id, const TimeBase& base, const LmdTime& time);

/// Converts events, in the order of a file or server, to blocks of hits, and drops events with an impossible number or
/// time. The next event may show that an event must be dropped. Therefore the newest event of a block waits for the
/// next block while that is possible.
class LmdHitBlocks {
 public:
  /// `name` is the source's name in messages. `eras` is the rule for a server, whose counter may restart.
  LmdHitBlocks(std::string name, const LmdTime& time, const TimeBase& base, std::optional<EraRule> eras = {});

  /// The following events come from the file or server `path`.
  void open(const std::string& path);
  /// Ends an input: reports the totals of defects not shown.
  void close() { defect_log_->sum_up(); }

  /// Opens a block, which begins with the waiting event, if any.
  void begin(HitBlock& block);
  /// Judges an event and appends its hits. Returns false if the block is full; the event then waits for the next block.
  bool add(const LmdEvent& event, HitBlock& block);
  /// Appends a problem. `ends`: if the input breaks off here, no further input is known to follow.
  void add(const LmdProblem& problem, DropCause cause, bool ends, HitBlock& block);
  /// Whether `block` has contents that can be released now.
  [[nodiscard]] bool is_complete(const HitBlock& block) const;
  /// Ends a block that is not full: an event that may still be dropped is removed and waits for the next block.
  void hold_back(HitBlock& block);
  /// Judges the newest event without a successor, when none will follow or none has followed for too long.
  void finish(HitBlock& block);
  /// Whether finish() would keep the newest event.
  [[nodiscard]] bool newest_stays() const { return time_.numbered() ? numbers_.stays() : steps_.stays(); }
  /// Whether the newest event need not wait long for its successor: finish() would keep it, and it is not a possibly
  /// wrong first number, against which the following numbers would go back.
  [[nodiscard]] bool newest_is_safe() const { return newest_stays() && !(time_.numbered() && numbers_.doubts_first()); }
  /// See HitReader.
  [[nodiscard]] ClockTurns* counter() { return time_.turns().if_any(); }
  [[nodiscard]] std::optional<RawClock> raw_clock() const { return time_.raw_clock(); }
  /// See EventNumbers::confirm(). For events by number.
  void confirm(Tick number) { numbers_.confirm(number); }
  /// Time of the newest event if it waits for the next block and finish() would keep it.
  [[nodiscard]] std::optional<Tick> holds_back() const;

  /// Number of the first event, if any.
  [[nodiscard]] std::optional<Tick> first_number() const { return numbers_.first(); }
  /// Adds a multiple of their range to the numbers so far, including those in `block`, the newest block.
  void raise(Tick by, HitBlock& block);

  /// The server has restarted, so the next events may be repeats.
  void restart();

  /// Number of problems without an effect.
  [[nodiscard]] std::uint64_t anomalies() const { return anomalies_; }
  /// All counts, including the input's counts in `found`.
  [[nodiscard]] SourceCounts counts(const Counters& found) const;
  /// Number of events dropped because they had already come before restart().
  [[nodiscard]] std::uint64_t repeated() const { return repeated_; }

 private:
  bool comes_again(const LmdEvent& event, std::uint32_t number);
  void report_repeats();
  void lose_missing(const LmdEvent& event, HitBlock& block);
  void lose_missing_numbers(HitBlock& block);
  [[nodiscard]] EventNumbers::Judgement judge(const LmdEvent& event, std::uint32_t number, const HitBlock& block);
  [[nodiscard]] EventNumbers::Judgement begin_era(const LmdEvent& event, std::uint32_t number);
  [[nodiscard]] EventNumbers::Judgement judge_stamped(const LmdEvent& event);
  void keep(const LmdEvent& event, std::uint32_t number, Tick tick, HitBlock& block);
  void take_back(DropCause cause, HitBlock& block);
  void leave_out(const LmdEvent& event, DropCause cause, HitBlock& block);
  static void lose(const LmdEvent& event, DropCause cause, HitBlock& block);
  [[nodiscard]] bool may_go() const;
  void warn_of_folded();

  std::string name_;
  LmdTime time_;
  std::vector<std::string> paths_;       ///< inputs opened so far
  std::optional<DefectLog> defect_log_;  ///< of the last path

  LmdHitMaker hits_;
  bool folded_reported_ = false;
  TriggerCounts triggers_;
  EventNumbers numbers_;         ///< used if times are event numbers
  TimeSteps steps_;              ///< used if times are stamps
  LmdRepeats repeats_;           ///< used if times are stamps
  std::optional<LmdEras> eras_;  ///< used for event numbers of a server
  bool begins_era_ = false;      ///< the current event begins an era
  std::uint64_t n_eras_ = 1;
  std::uint64_t repeated_ = 0;
  std::uint64_t repeats_reported_ = 0;
  /// After restart(), until a new event has shown what is missing: missing numbers before it.
  std::optional<std::uint64_t> missing_before_;
  std::uint64_t missing_ = 0;      ///< events with time stamps that a reconnection has cost, by their numbers
  std::optional<KeptEvent> kept_;  ///< newest event, which may still be dropped
  HitBlock waiting_;               ///< hits for the next block
  std::uint64_t anomalies_ = 0;
  std::uint64_t untimed_ = 0;
};

}  // namespace eventloom
