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

/// Header of the stream that the events of `uri` become: source and clock, the rule of formats/lmd.hpp, and where
/// times come from.
StreamHeader lmd_stream_header(const SourceUri& uri, SourceId id, const TimeBase& base, const LmdTime& time);

/// Makes blocks of hits of events, in the order in which a file or a server has them, and drops those whose number
/// or time cannot be. The event behind an event may tell that it must go: so the newest event of a block waits
/// for the next block as long as that may be.
class LmdHitBlocks {
 public:
  /// `name`: of the source, for messages. `eras`: of a server, whose counter may begin anew.
  LmdHitBlocks(std::string name, const LmdTime& time, const TimeBase& base, std::optional<EraRule> eras = {});

  /// What comes now is in the file, or from the server, `path`.
  void open(const std::string& path);
  /// The end of what was opened: how many complaints were not shown.
  void close() { complaints_->sum_up(); }

  /// Opens a block; in it is the event that waits for it, if one does.
  void begin(HitBlock& block);
  /// Judges an event and appends its hits. False: the block is full, the event waits for the next.
  bool add(const LmdEvent& event, HitBlock& block);
  /// Appends a place that is not as it should be. `ends`: where the input breaks off, nothing comes after, for all
  /// that is known.
  void add(const LmdProblem& problem, DropCause cause, bool ends, HitBlock& block);
  /// Whether `block` holds anything that need not wait.
  [[nodiscard]] bool has_settled(const HitBlock& block) const;
  /// Ends a block that is not full: what may yet have to go is taken out and waits for the next.
  void hold_back(HitBlock& block);
  /// Judges the newest event without the one behind it: no more will come, or none for so long that it waits no longer.
  void finish(HitBlock& block);
  /// Whether finish() would keep the newest event.
  [[nodiscard]] bool newest_stays() const { return time_.numbered() ? numbers_.stays() : steps_.stays(); }
  /// Time of the newest event that waits for the next block, unless it is one that only the next would make believed.
  [[nodiscard]] std::optional<Tick> holds_back() const;

  /// The events that come next may have been there before: a server has begun again.
  void begin_anew();

  /// Problems without an effect.
  [[nodiscard]] std::uint64_t anomalies() const { return anomalies_; }
  /// With what `found` has of the input.
  [[nodiscard]] SourceCounts counts(const Counters& found) const;
  /// Events left out because they were there before begin_anew().
  [[nodiscard]] std::uint64_t repeated() const { return repeated_; }

 private:
  bool comes_again(const LmdEvent& event);
  void tell_repeats();
  [[nodiscard]] EventNumbers::Judgement judge(const LmdEvent& event, const HitBlock& block);
  [[nodiscard]] EventNumbers::Judgement begin_era(const LmdEvent& event);
  [[nodiscard]] EventNumbers::Judgement judge_stamped(const LmdEvent& event);
  void keep(const LmdEvent& event, Tick tick, HitBlock& block);
  void take_back(DropCause cause, HitBlock& block);
  void leave_out(const LmdEvent& event, DropCause cause, HitBlock& block);
  static void lose(const LmdEvent& event, DropCause cause, HitBlock& block);
  [[nodiscard]] bool may_go() const;
  void warn_of_folded();

  std::string name_;
  LmdTime time_;
  std::vector<std::string> paths_;        ///< opened so far
  std::optional<Complaints> complaints_;  ///< of the last of them

  LmdHitMaker hits_;
  bool folded_told_ = false;
  TriggerCounts triggers_;
  EventNumbers numbers_;         ///< where times are event numbers
  TimeSteps steps_;              ///< where they are stamps
  LmdRepeats repeats_;           ///< likewise
  std::optional<LmdEras> eras_;  ///< where times are the event numbers of a server
  bool anew_ = false;            ///< the event at hand begins an era
  std::uint64_t n_eras_ = 1;
  std::uint64_t repeated_ = 0;
  std::uint64_t repeats_told_ = 0;
  std::optional<KeptEvent> kept_;  ///< may have to go
  HitBlock waiting_;               ///< for the next block
  std::uint64_t anomalies_ = 0;
  std::uint64_t untimed_ = 0;
};

}  // namespace eventloom
