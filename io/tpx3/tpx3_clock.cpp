#include "io/tpx3/tpx3_clock.hpp"

#include <cstdlib>

namespace eventloom {

namespace {

/// The largest FToA.
constexpr std::int64_t kFineTime = std::int64_t{15} * 6;
/// TDC times placed nearest to this value lie between kNear before a reset and kNear before the end of the period.
constexpr auto kMiddle = static_cast<std::int64_t>(kTpx3TdcPeriod) / 2 - Tpx3Clock::kNear;

/// The quotient rounded down.
std::int64_t quotient(std::int64_t time, std::int64_t period) {
  return time >= 0 ? time / period : -((period - 1 - time) / period);
}

/// The first time, or the second if the first is far from its two successors, which agree.
std::optional<Tpx3Time> first_time(const Tpx3Preview& preview) {
  const auto& times = preview.times();
  if (times.empty()) return std::nullopt;
  const auto near = [](Tpx3Time a, Tpx3Time b) {
    const auto apart = b.near_to(a.time) - a.time;
    return apart >= -Tpx3Clock::kNear && apart <= Tpx3Clock::kNear;
  };
  const bool alone =
      times.size() > 2 && !near(times[0], times[1]) && !near(times[0], times[2]) && near(times[1], times[2]);
  return alone ? times[1] : times[0];
}

/// Whether a packet near `begin` lies before time 0 by more than an FToA; searches up to the first packet farther away.
bool has_earlier(std::int64_t begin, const Tpx3Preview& preview) {
  for (const auto time : preview.times()) {
    const auto at = time.near_to(begin);
    if (at > begin + Tpx3Clock::kNear || at < begin - Tpx3Clock::kNear) return false;
    if (at < -kFineTime) return true;
  }
  return false;
}

}  // namespace

Tpx3Clock::Placed Tpx3Clock::begin_file(const Tpx3Preview& preview, std::optional<std::uint64_t> turns) {
  new_file_ = now_.has_value();
  if (const auto global = preview.global()) {
    global_ = global;
    if (now_) return move_to(by_reference(*global));
    now_ = global;
    return {};
  }
  const auto first = first_time(preview);
  if (now_ || !first) return {};
  const auto tdc = preview.tdc();
  now_ = tdc && !turns ? first->near_to(tdc->near_to(kMiddle)) : first->time;
  *now_ += static_cast<std::int64_t>(turns.value_or(0) * kTpx3PixelPeriod);
  // The file begins where times start again: avoid negative times.
  const bool earlier = *now_ < -kFineTime || has_earlier(*now_, preview);
  if (!turns && earlier) *now_ += static_cast<std::int64_t>(tdc ? kTpx3TdcPeriod : kTpx3PixelPeriod);
  return {};
}

/// Whether a following packet is close to `at`, and closer to it than to the time that the stream had reached.
bool Tpx3Clock::has_witness(std::int64_t at, const Tpx3Preview& preview) const {
  constexpr std::size_t kWitnesses = 16;
  const auto& times = preview.times();
  if (times.empty()) return true;
  return std::any_of(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(std::min(times.size(), kWitnesses)),
                     [&](Tpx3Time time) {
                       const auto apart = std::abs(time.near_to(at) - at);
                       return apart <= kNear && apart < std::abs(time.near_to(*now_) - *now_);
                     });
}

Tpx3Clock::Placed Tpx3Clock::by_reference(std::int64_t time) const {
  if (time < *now_ - kNear) return {time, Tpx3Step::back, *now_};
  return {time, time > *now_ + kNear ? Tpx3Step::pause : Tpx3Step::none, *now_};
}

/// Places a packet by its own period: at the first place that is not long past, or one period earlier if the clock went
/// back.
Tpx3Clock::Placed Tpx3Clock::alone(Tpx3Time packet) const {
  const auto period = static_cast<std::int64_t>(packet.period);
  const auto at = packet.time + quotient(*now_ - kNear - packet.time + period - 1, period) * period;
  const bool turned = quotient(at, period) > quotient(*now_, period);
  const bool far = at - *now_ > period / 2;
  const bool begins = turned && at - quotient(at, period) * period < kNear;
  if (at <= *now_ + kNear) return {at, Tpx3Step::none, *now_};
  if (turned && !new_file_ && (far || begins)) return {at - period, Tpx3Step::back, *now_};
  const bool certain = new_file_ ? !far && !begins : !turned && !far;
  return {at, certain ? Tpx3Step::pause : Tpx3Step::guess, *now_};
}

Tpx3Clock::Placed Tpx3Clock::settle(Tpx3Time packet, const Tpx3Preview& preview) {
  auto place = alone(packet);
  if (const auto global = preview.global()) {
    place = by_reference(packet.near_to(*global));
  } else if (const auto tdc = preview.tdc(); tdc && packet.period != kTpx3TdcPeriod) {
    const auto by_tdc = alone(*tdc);
    place = by_reference(packet.near_to(by_tdc.time));
    if (by_tdc.step == Tpx3Step::guess) place.step = by_tdc.step;
  }
  if (!has_witness(place.time, preview)) return {place.time, Tpx3Step::stray, *now_};
  return move_to(place);
}

Tpx3Clock::Placed Tpx3Clock::move_to(Placed place) {
  new_file_ = false;
  if (place.step == Tpx3Step::pause) {
    const Tpx3Time as_pixel{place.time, kTpx3PixelPeriod};
    const bool hidden = std::abs(as_pixel.near_to(*now_) - *now_) <= kNear;
    if (hidden) place.step = Tpx3Step::guess;
    count_pause(place.time - *now_);
  }
  now_ = place.step == Tpx3Step::back ? place.time : std::max(*now_, place.time);
  return place;
}

Tpx3Clock::Placed Tpx3Clock::heed(std::int64_t time) {
  const auto follows = [time](std::optional<std::int64_t> earlier) {
    return earlier && time >= *earlier && time <= *earlier + 2 * kNear;
  };
  const bool believed = follows(now_) || follows(global_);
  global_ = time;
  if (!believed) return {};
  if (!now_) now_ = time;
  return move_to(by_reference(time));
}

}  // namespace eventloom
