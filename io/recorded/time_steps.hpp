#pragma once

#include <optional>

#include "formats/event.hpp"
#include "io/recorded/event_numbers.hpp"

namespace eventloom {

/// Judges the time stamps of one source's events. One that lies further than `limit` from those around
/// it is a broken stamp (out_of_step): believed, it would stretch the run over years of nothing. Only
/// the event behind it tells a broken stamp from a long pause, so a judgement may take back the event before.
class TimeSteps {
 public:
  explicit TimeSteps(Tick limit) : limit_(limit) {}

  EventNumbers::Judgement judge(Tick time);
  /// The end of the stream: why the last event must go, if it must.
  std::optional<DropCause> finish();
  /// Whether finish() would keep the last event.
  [[nodiscard]] bool stays() const { return !doubted_ || first_; }
  /// Whether the time judged last may yet have to go.
  [[nodiscard]] bool doubts() const { return doubted_; }
  [[nodiscard]] std::uint64_t out_of_step() const { return out_of_step_; }

 private:
  [[nodiscard]] bool near(Tick a, Tick b) const { return (a > b ? a - b : b - a) <= limit_; }
  DropCause drop();

  Tick limit_;
  bool any_ = false;
  bool doubted_ = false;  ///< last_ is far from what was before it, or nothing was
  bool first_ = false;    ///< last_ is the first of all
  Tick last_ = 0;
  Tick believed_ = 0;  ///< the one before last_, if that is doubted and not the first
  std::uint64_t out_of_step_ = 0;
};

}  // namespace eventloom
