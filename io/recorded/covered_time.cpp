#include "io/recorded/covered_time.hpp"

#include <algorithm>

namespace eventloom {

void CoveredTime::run_on(std::span<const Tick> times) {
  for (const Tick time : times) {
    if (stretches_.empty() || time - stretches_.back().end > apart_) begin_last(time);
    stretches_.back().end = time;
  }
  if (times.empty()) return;
  restarts_.run_on(times.front(), times.back());
  hits_ += times.size();
  current_ = stretches_.size() - 1;
}

void CoveredTime::begin_last(Tick time) {
  const auto over = [&](const Stretch& stretch) { return time - stretch.end > farthest_ && time > stretch.end; };
  stretches_.erase(stretches_.begin(), std::ranges::find_if_not(stretches_, over));
  stretches_.push_back({time, time});
  ++begun_;
}

/// Whether a hit continues a stretch at its end, allowing for ordinary disorder.
bool CoveredTime::near(const Stretch& stretch, Tick time) const {
  return (time > stretch.end ? time - stretch.end : stretch.end - time) <= apart_;
}

/// Extends a stretch to `time`. Returns false if it would then overlap the next or the previous stretch.
bool CoveredTime::extend(std::size_t place, Tick time) {
  auto& stretch = stretches_[place];
  const Tick begin = std::min(stretch.begin, time);
  const Tick end = std::max(stretch.end, time);
  if (place + 1 < stretches_.size() && end > stretches_[place + 1].begin) return false;
  if (place != 0 && begin < stretches_[place - 1].end) return false;
  stretch = {begin, end};
  return go_to(place);
}

/// Whether there are enough hits per stretch to form frames.
bool CoveredTime::frames_show() const {
  constexpr std::uint64_t kHitsInFrame = 20;
  return hits_ >= kHitsInFrame * begun_;
}

/// The next hit is in the stretch at `place`.
bool CoveredTime::go_to(std::size_t place) {
  if (place > current_ + 1 && place + 1 < stretches_.size()) ++passes_;
  current_ = place;
  return true;
}

bool CoveredTime::restarts(bool certain) const {
  constexpr std::uint64_t kCertain = 8;
  constexpr std::uint64_t kRunsOn = 2;
  if (!restarts_.are_most()) return false;
  return certain ? restarts_.count() >= kCertain : !restarts_.are_single() || passes_ >= kRunsOn;
}

bool CoveredTime::take(Tick time) {
  ++hits_;
  if (!fit(time)) return false;
  restarts_.take(time);
  return true;
}

bool CoveredTime::fit(Tick time) {
  if (stretches_.empty() || time > stretches_.back().end) {
    run_on({&time, 1});
    --hits_;
    return true;
  }
  if (near(stretches_.back(), time)) {  // accepted even if it overlaps
    current_ = stretches_.size() - 1;
    return true;
  }
  if (stretches_.back().end - time > farthest_ || !frames_show()) return false;
  if (time == 0) return false;  // probably a tail that was allocated but never written
  if (near(stretches_[current_], time)) return extend(current_, time);
  const auto next = std::ranges::upper_bound(stretches_, time, {}, &Stretch::begin);
  const auto place = static_cast<std::size_t>(next - stretches_.begin());
  if (place != 0 && near(stretches_[place - 1], time)) return extend(place - 1, time);
  if (place != 0 && time <= stretches_[place - 1].end) return false;
  stretches_.insert(next, {time, time});
  ++begun_;
  return go_to(place);
}

}  // namespace eventloom
