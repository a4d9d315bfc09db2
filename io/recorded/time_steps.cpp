#include "io/recorded/time_steps.hpp"

#include <utility>

namespace eventloom {

DropCause TimeSteps::drop() {
  ++out_of_step_;
  return DropCause::out_of_step;
}

EventNumbers::Judgement TimeSteps::judge(Tick time) {
  EventNumbers::Judgement result;
  result.tick = time;
  if (!std::exchange(any_, true)) {
    first_ = doubted_ = true;
    last_ = time;
    return result;
  }
  if (doubted_ && !near(time, last_)) {
    result.previous = drop();
    doubted_ = first_ || !near(time, believed_);
    last_ = time;
    return result;
  }
  const bool far = !near(time, last_);
  if (far) believed_ = last_;
  doubted_ = far;
  first_ = false;
  last_ = time;
  return result;
}

std::optional<DropCause> TimeSteps::finish() {
  if (stays()) return std::nullopt;
  doubted_ = false;
  return drop();
}

}  // namespace eventloom
