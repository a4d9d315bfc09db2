#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "formats/stream_file.hpp"
#include "io/files/complaints.hpp"
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

/// Header of the stream for the events of `uri`: source and clock, the rule of formats/lmd.hpp, and the origin of the
/// times.
StreamHeader lmd_stream_header(const SourceUri& uri, SourceId id, const TimeBase& base, const LmdTime& time);

/// Makes blocks of hits from events, in the order of a file or a server, and drops those with an impossible number or
/// time. The next event may show that an event must be dropped: so the newest event of a block waits for the next block
/// as long as that is possible.
class LmdHitBlocks {
 public:
  /// `name`: of the source, for messages. `eras`: for a server, whose counter may restart.
  LmdHitBlocks(std::string name, const LmdTime& time, const TimeBase& base, std::optional<EraRule> eras = {});

  /// The following events come from the file or server `path`.
  void open(const std::string& path);
  /// The end of an input: reports how many complaints were suppressed.
  void close() { complaints_->sum_up(); }

  /// Opens a block; it begins with the waiting event, if there is one.
  void begin(HitBlock& block);
  /// Judges an event and appends its hits. False: the block is full, the event waits for the next.
  bool add(const LmdEvent& event, HitBlock& block);
  /// Appends a problem. `ends`: where the input breaks off, nothing follows, as far as known.
  void add(const LmdProblem& problem, DropCause cause, bool ends, HitBlock& block);
  /// Whether `block` has contents that need not wait.
  [[nodiscard]] bool is_complete(const HitBlock& block) const;
  /// Ends a block that is not full: the event that may still be dropped is taken out and waits for the next.
  void hold_back(HitBlock& block);
  /// Judges the newest event without a successor: none will follow, or none has for too long.
  void finish(HitBlock& block);
  /// Whether finish() would keep the newest event.
  [[nodiscard]] bool newest_stays() const { return time_.numbered() ? numbers_.stays() : steps_.stays(); }
  /// Whether the newest event need not wait for its successor for long: finish() would keep it, and no wrong first
  /// number that would make the following ones go back.
  [[nodiscard]] bool newest_is_safe() const { return newest_stays() && !(time_.numbered() && numbers_.doubts_first()); }
  /// See EventNumbers. For events by number.
  void confirm(Tick number) { numbers_.confirm(number); }
  /// Time of the newest event, which waits for the next block, unless only its successor could confirm it.
  [[nodiscard]] std::optional<Tick> holds_back() const;

  /// The number of the first event, if there is one.
  [[nodiscard]] std::optional<Tick> first_number() const { return numbers_.first(); }
  /// Adds a multiple of their range to the numbers so far; `block`: the newest.
  void raise(Tick by, HitBlock& block);

  /// The next events may be repeats: a server has restarted.
  void begin_anew();

  /// Problems without an effect.
  [[nodiscard]] std::uint64_t anomalies() const { return anomalies_; }
  /// With the counts of the input from `found`.
  [[nodiscard]] SourceCounts counts(const Counters& found) const;
  /// Events dropped because they came before begin_anew() already.
  [[nodiscard]] std::uint64_t repeated() const { return repeated_; }

 private:
  bool comes_again(const LmdEvent& event, std::uint32_t number);
  void tell_repeats();
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
  std::vector<std::string> paths_;        ///< opened so far
  std::optional<Complaints> complaints_;  ///< of the last path

  LmdHitMaker hits_;
  bool folded_told_ = false;
  TriggerCounts triggers_;
  EventNumbers numbers_;         ///< where times are event numbers
  TimeSteps steps_;              ///< where they are stamps
  LmdRepeats repeats_;           ///< for time stamps
  std::optional<LmdEras> eras_;  ///< for event numbers of a server
  bool anew_ = false;            ///< the current event begins an era
  std::uint64_t n_eras_ = 1;
  std::uint64_t repeated_ = 0;
  std::uint64_t repeats_told_ = 0;
  std::optional<KeptEvent> kept_;  ///< may still be dropped
  HitBlock waiting_;               ///< for the next block
  std::uint64_t anomalies_ = 0;
  std::uint64_t untimed_ = 0;
};

}  // namespace eventloom
