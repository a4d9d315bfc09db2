#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/recorded/covered_time.hpp"
#include "io/recorded/era_plan.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/recorded/jump_message.hpp"
#include "io/recorded/seen_time.hpp"
#include "io/recorded/step_back.hpp"
#include "io/recorded/time_order.hpp"
#include "io/recorded/turn_watch.hpp"

namespace eventloom {

/// Delivers the hits of another reader so that their times go back by no more than ordinary disorder. A larger step
/// back is a jump: a counter that wrapped around, a clock that was reset, a second measurement, or a damaged time. If
/// it were sorted, parts of a run would overlap; instead it is counted, reported, and handled as TimeOrder specifies.
///
/// A step back within ordinary disorder that looks like a turn of a counter is refused, too: see TurnWatch. So is any
/// step back of event numbers. The message on a jump that is refused says what it looks like: see StepBack.
///
/// Frames stored in any order are not jumps: unless ordinary disorder is strict (TimeOrder), they are sorted if they
/// fit between others and go back by at most a second, unless they go back as a clock does that begins again: see
/// Restarts. Neither are hits of a pulse stored in any order: see HitReader::unordered_within().
///
/// If a hit is far ahead of all before it and the next one returns, its time is considered damaged: it alone is
/// dropped, unless jumps are refused.
class JumpReader final : public HitReader {
 public:
  JumpReader(std::unique_ptr<HitReader> reader, const TimeOrder& order);

  [[nodiscard]] const StreamHeader& header() const override { return reader_->header(); }
  [[nodiscard]] const std::string& name() const override { return reader_->name(); }
  [[nodiscard]] InputFile input() const override { return reader_->input(); }
  /// Throws UserError at a jump if jumps are refused, and when the time of a new era does not fit in 64 bits.
  bool read(HitBlock& block) override;
  [[nodiscard]] std::optional<Tick> holds_back() const override { return reader_->holds_back(); }
  void release_held() override { reader_->release_held(); }
  [[nodiscard]] std::optional<Tick> held_from() const override { return reader_->held_from(); }
  [[nodiscard]] std::optional<double> share_read() const override { return reader_->share_read(); }
  [[nodiscard]] std::uint64_t anomalies() const override { return reader_->anomalies(); }
  [[nodiscard]] SourceCounts counts() const override;

  /// The eras so far.
  [[nodiscard]] std::vector<EraSpan> eras() const;

 private:
  /// The hit with the greatest time since the last jump.
  struct Foremost {
    Tick time = 0;
    std::uint64_t hit = 0;       ///< number of the hit in the recording, from 1
    bool leapt = false;          ///< far ahead of all hits before it, and not confirmed by a hit near it
    std::optional<Tick> before;  ///< greatest time before it leapt; std::nullopt for the first hit
  };

  void widen();
  bool take_in_order(HitBlock& block);
  void judge(HitBlock& block);
  bool fits_between(Tick time, std::uint64_t hit);
  void require_no_restart(bool certain) const;
  void require_frames() const;
  [[nodiscard]] std::string restart() const;
  void take(Tick time, std::uint64_t hit);
  [[nodiscard]] bool is_ordinary(Tick step) const;
  void note_step(Tick step) { largest_step_ = std::max(largest_step_, step); }
  void step_back(HitBlock& block, std::size_t i);
  void drop(std::size_t i);
  void leave_out_leap(HitBlock& block, std::uint64_t hit);
  void hold_back_leap(HitBlock& block);
  void require_jump(const HitBlock& block, std::size_t i, bool leapt);
  template <class Judge>
  void read_ahead(const HitBlock& block, std::size_t next, Judge& judge);
  void require_no_turn(bool certain) const;
  void begin_era(Tick time, std::uint64_t hit);
  [[nodiscard]] Tick in_era(Tick time) const;
  bool finish();
  void judge_short_restarts();
  void report(const std::string& what, const char* outcome);
  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void refuse_era(std::uint64_t hit) const;

  std::unique_ptr<HitReader> reader_;
  TimeOrder order_;
  HitBlock held_;  ///< a last hit that leapt ahead, held until the next one confirms it or not
  std::optional<Foremost> foremost_;
  std::optional<CoveredTime> covered_;  ///< set if frames may be stored in any order
  NumberedHit step_[2];                 ///< the first hit that covered_ took and goes back, and the foremost before it
  std::optional<SeenTime> seen_;        ///< set if jumps are refused, to distinguish disorder
  std::optional<TurnWatch> watch_;      ///< set if ordinary disorder could hide turns of a counter
  std::optional<ShortRestarts> short_;  ///< set if restarts within ordinary disorder are named
  std::vector<EraSpan> eras_;           ///< all so far; the last hit of the current one is foremost_
  std::vector<bool> out_;               ///< marks hits of the block to drop
  bool any_out_ = false;
  std::uint64_t hits_ = 0;  ///< number of hits in the blocks before this one
  Tick added_ = 0;          ///< offset added to the times of this era, modulo 2^64
  Tick era_begin_ = 0;      ///< earliest possible time of this era
  bool behind_ = false;     ///< hits are dropped until times have caught up
  std::uint64_t jumps_ = 0;
  bool summed_up_ = false;
  Tick largest_step_ = 0;
};

}  // namespace eventloom
