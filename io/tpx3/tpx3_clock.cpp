#include "io/tpx3/tpx3_clock.hpp"

#include <algorithm>

namespace eventloom {

std::int64_t Tpx3Clock::extend(std::int64_t time, std::uint64_t period) {
  if (!now_) {
    now_ = time;
    return time;
  }
  const auto whole = static_cast<std::int64_t>(period);
  const auto near_to = [&](std::int64_t place) {
    std::int64_t ahead = (time - place) % whole;
    if (ahead < -whole / 2) ahead += whole;
    if (ahead >= whole / 2) ahead -= whole;
    return place + ahead;
  };
  // Before the first pass nothing has started again.
  std::int64_t at = near_to(*now_);
  if (at < time) at = time;
  if (at <= *now_ + kNear) {
    now_ = std::max(*now_, at);
    doubted_.reset();
    return at;
  }
  const bool agrees = doubted_ && at <= *doubted_ + kNear && at >= *doubted_ - kNear;
  if (agrees) now_ = at;
  doubted_ = agrees ? std::nullopt : std::optional(at);
  return at;
}

void Tpx3Clock::heed(std::int64_t time) {
  const auto follows = [time](std::optional<std::int64_t> earlier) {
    return earlier && time >= *earlier && time <= *earlier + 2 * kNear;
  };
  if (follows(now_) || follows(global_)) now_ = std::max(now_.value_or(time), time);
  global_ = time;
}

}  // namespace eventloom
