#include "io/recorded/seen_time.hpp"

#include <algorithm>
#include <limits>

namespace eventloom {

namespace {

constexpr std::size_t kMostStretches = 4096;

}  // namespace

void SeenTime::run_on(std::span<const Tick> times) {
  if (times.empty()) return;
  if (stretches_.empty()) stretches_.push_back({times.front(), times.front(), 0});
  hits_ += times.size();
  Tick widest = times.front() - std::min(times.front(), stretches_.back().end);
  for (std::size_t i = 1; i < times.size(); ++i) widest = std::max(widest, times[i] - times[i - 1]);
  if (widest <= apart_) {
    stretches_.back().end = std::max(stretches_.back().end, times.back());
    stretches_.back().hits += times.size();
    return;
  }
  for (const Tick time : times) {
    if (time > stretches_.back().end && time - stretches_.back().end > apart_) stretches_.push_back({time, time, 0});
    stretches_.back().end = std::max(stretches_.back().end, time);
    ++stretches_.back().hits;
    if (stretches_.size() > kMostStretches) forget_gaps(kMostStretches / 2);
  }
}

/// Joins stretches over ever longer gaps until `most` or fewer are left.
void SeenTime::forget_gaps(std::size_t most) {
  constexpr Tick kMost = std::numeric_limits<Tick>::max();
  while (stretches_.size() > std::max<std::size_t>(most, 1)) {
    apart_ = apart_ > kMost / 2 ? kMost : apart_ + apart_;
    std::size_t kept = 0;
    for (std::size_t i = 1; i < stretches_.size(); ++i) {
      if (stretches_[i].begin - stretches_[kept].end <= apart_) {
        stretches_[kept].end = stretches_[i].end;
        stretches_[kept].hits += stretches_[i].hits;
      } else {
        stretches_[++kept] = stretches_[i];
      }
    }
    stretches_.resize(kept + 1);
  }
}

void SeenTime::forget_rare() {
  constexpr std::uint64_t kEnough = 16;
  forget_gaps(static_cast<std::size_t>(std::min<std::uint64_t>(hits_ / kEnough, kMostStretches)));
}

/// The last stretch that begins before `time`; the end of the list if there is none.
std::vector<SeenTime::Stretch>::const_iterator SeenTime::last_before(Tick time) const {
  const auto next = std::ranges::lower_bound(stretches_, time, {}, &Stretch::begin);
  return next == stretches_.begin() ? stretches_.end() : next - 1;
}

bool SeenTime::covers(Tick time) const {
  const auto stretch = last_before(time);
  return stretch != stretches_.end() && time < stretch->end;
}

double SeenTime::hits_between(Tick from, Tick to) const {
  double hits = 0;
  auto stretch = last_before(from);
  if (stretch == stretches_.end()) stretch = stretches_.begin();
  for (; stretch != stretches_.end() && stretch->begin < to; ++stretch) {
    const Tick begin = std::max(from, stretch->begin);
    const Tick end = std::min(to, stretch->end);
    if (stretch->begin == stretch->end) {
      hits += stretch->begin > from ? static_cast<double>(stretch->hits) : 0;
    } else if (begin < end) {
      hits += static_cast<double>(stretch->hits) * static_cast<double>((end - begin).value) /
              static_cast<double>((stretch->end - stretch->begin).value);
    }
  }
  return hits;
}

}  // namespace eventloom
