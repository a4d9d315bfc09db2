#pragma once

#include <optional>

#include "formats/event.hpp"
#include "io/recorded/event_numbers.hpp"

namespace eventloom {

/// Judges the time stamps of one source's events. A stamp further than `limit` from its neighbours is broken
/// (out_of_step); if it were accepted, the run could extend over years without data. Only the next event distinguishes
/// a broken stamp from a long pause, so a judgement may take back the previous event.
class TimeSteps {
 public:
  explicit TimeSteps(Tick limit) : limit_(limit) {}

  EventNumbers::Judgement judge(Tick time);
  /// Ends the stream. Returns why the last event must be dropped, if it must.
  std::optional<DropCause> finish();
  /// Whether finish() would keep the last event.
  [[nodiscard]] bool stays() const { return !doubted_ || first_; }
  /// Whether the last event may still be dropped.
  [[nodiscard]] bool doubts() const { return doubted_; }
  [[nodiscard]] std::uint64_t out_of_step() const { return out_of_step_; }

 private:
  [[nodiscard]] bool near(Tick a, Tick b) const { return (a > b ? a - b : b - a) <= limit_; }
  DropCause drop();

  Tick limit_;
  bool any_ = false;
  bool doubted_ = false;  ///< last_ is the first time, or far from the one before
  bool first_ = false;    ///< last_ is the first time
  Tick last_ = 0;
  Tick believed_ = 0;  ///< time before last_, if that is doubted and not the first
  std::uint64_t out_of_step_ = 0;
};

}  // namespace eventloom
