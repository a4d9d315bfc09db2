#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/recorded/covered_time.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/recorded/time_order.hpp"

namespace eventloom {

/// The hits of another reader, whose times go back by no more than ordinary disorder. A larger step back is a jump: a
/// counter that wrapped around, a clock that was reset, a second measurement, or a damaged time. Sorted away, it would
/// lay parts of a run over each other; it is counted, reported, and treated as TimeOrder says.
///
/// Frames that were stored in any order are no jumps: up to a second back they are put in order where they lie between
/// others, unless the key `reorder` says what is ordinary. Nor are hits of a pulse that were stored in any order: see
/// HitReader::unordered_within().
///
/// A hit far ahead of all before it, from which the next one returns, is taken for a damaged time itself: it alone is
/// dropped unless jumps are refused.
class JumpReader final : public HitReader {
 public:
  JumpReader(std::unique_ptr<HitReader> reader, const TimeOrder& order);

  [[nodiscard]] const StreamHeader& header() const override { return reader_->header(); }
  [[nodiscard]] const std::string& name() const override { return reader_->name(); }
  [[nodiscard]] InputFile input() const override { return reader_->input(); }
  /// Throws UserError at a jump that is refused, and when the time of a new era does not fit 64 bits.
  bool read(HitBlock& block) override;
  [[nodiscard]] std::optional<Tick> holds_back() const override { return reader_->holds_back(); }
  [[nodiscard]] std::optional<Tick> held_from() const override { return reader_->held_from(); }
  [[nodiscard]] std::optional<double> share_read() const override { return reader_->share_read(); }
  [[nodiscard]] std::uint64_t anomalies() const override { return reader_->anomalies(); }
  [[nodiscard]] SourceCounts counts() const override;

 private:
  /// The hit with the greatest time since the last jump.
  struct Foremost {
    Tick time = 0;
    std::uint64_t hit = 0;       ///< its number in the recording, from 1
    bool leapt = false;          ///< far ahead of those before it, and no hit has come near it yet
    std::optional<Tick> before;  ///< the greatest time before it leapt; nothing when it is the first hit
  };

  void widen();
  bool take_in_order(HitBlock& block);
  void judge(HitBlock& block);
  void take(Tick time, std::uint64_t hit);
  [[nodiscard]] bool is_ordinary(Tick step) const;
  void note_step(Tick step) { largest_step_ = std::max(largest_step_, step); }
  void step_back(HitBlock& block, std::size_t i);
  void drop(std::size_t i);
  void leave_out_leap(HitBlock& block, std::uint64_t hit);
  void hold_back_leap(HitBlock& block);
  void begin_era(Tick time, std::uint64_t hit);
  [[nodiscard]] Tick in_era(Tick time) const;
  bool finish();
  void report(const std::string& what, const char* outcome);
  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void refuse_era(std::uint64_t hit) const;
  [[nodiscard]] std::string meaning(Tick step) const;
  [[nodiscard]] std::string remedies() const;
  [[nodiscard]] std::string place(std::uint64_t hit, Tick time) const;
  [[nodiscard]] std::string length(Tick ticks) const;

  std::unique_ptr<HitReader> reader_;
  TimeOrder order_;
  HitBlock held_;  ///< a last hit that leapt ahead, until the next one shows whether it is believed
  std::optional<Foremost> foremost_;
  std::optional<CoveredTime> covered_;  ///< where frames may come in any order
  std::vector<bool> out_;               ///< hits of the block that are dropped
  bool any_out_ = false;
  std::uint64_t hits_ = 0;  ///< in the blocks before this one
  Tick added_ = 0;          ///< to the times of this era, modulo 2^64
  Tick era_begin_ = 0;      ///< no hit of this era comes before it
  bool behind_ = false;     ///< hits are dropped until times have caught up
  std::uint64_t jumps_ = 0;
  bool summed_up_ = false;
  Tick largest_step_ = 0;
};

}  // namespace eventloom
