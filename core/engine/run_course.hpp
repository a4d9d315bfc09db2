#pragma once

#include <cstdint>
#include <optional>

#include "formats/ids.hpp"

namespace eventloom {

/// The course of a run, the same on all ranks: on, or only up to a slice, at which it pauses, stops or ends. A pause,
/// a stop or an end begins with the sources frozen, until all ranks know the slice. A run that stops or ends
/// does not change its course any more.
class RunCourse {
 public:
  enum class Goal : std::uint8_t {
    none,   ///< the end of the sources
    pause,  ///< continues after resume()
    stop,   ///< another run can resume this one
    end,    ///< the data end there, so that the run is complete
  };

  /// Each returns whether it changes anything. pause() has no effect unless the run continues, resume() unless it
  /// pauses, stop() if it stops or ends already; what it paused for is then forgotten.
  bool pause() { return !heading() && freeze_for(Goal::pause); }
  bool resume() {
    if (goal_ != Goal::pause) return false;
    *this = {};
    return true;
  }
  bool stop(bool ends) { return !stopping() && freeze_for(ends ? Goal::end : Goal::stop); }
  /// The sources go up to this slice, exclusive. Only while they are frozen.
  void go_up_to(SliceId slice) { up_to_ = slice; }

  /// The sources begin no slice until the run goes up to a slice, or continues.
  [[nodiscard]] bool frozen() const { return heading() && !up_to_; }
  [[nodiscard]] bool paused() const { return goal_ == Goal::pause; }
  [[nodiscard]] bool stopping() const { return goal_ >= Goal::stop; }
  [[nodiscard]] bool ends() const { return goal_ == Goal::end; }
  /// The slice before which the data end, if they end and it is known.
  [[nodiscard]] std::optional<SliceId> end() const { return ends() ? up_to_ : std::nullopt; }

 private:
  [[nodiscard]] bool heading() const { return goal_ != Goal::none; }
  bool freeze_for(Goal goal) {
    goal_ = goal;
    up_to_.reset();
    return true;
  }

  Goal goal_ = Goal::none;
  std::optional<SliceId> up_to_;
};

}  // namespace eventloom
