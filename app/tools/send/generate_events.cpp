#include "app/tools/send/generate_events.hpp"

#include <algorithm>
#include <limits>

#include "formats/hash.hpp"

namespace eventloom {

namespace {

constexpr Tick kNever = std::numeric_limits<Tick>::max();

/// Derives a distinct seed for each stream.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t stream) {
  return splitmix64(seed + stream * 0x9e3779b97f4a7c15ULL);
}

/// Mean spacing of points in ticks.
double spacing(std::uint64_t per_second, const TimeBase& base) {
  return 1e12 / (static_cast<double>(std::max<std::uint64_t>(per_second, 1)) * static_cast<double>(base.tick_ps));
}

}  // namespace

StreamHeader header_of(const GenerateSettings& settings, std::uint32_t source) {
  StreamHeader header;
  header.source = source;
  header.base = settings.base;
  header.payload = PayloadTable::uniform(settings.payload);
  header.text = settings.text;
  return header;
}

EventGenerator::Stream::Stream(const GenerateSettings& settings, std::uint32_t source)
    : system((source % 64) << 22),
      engine(mixed(settings.seed, 2 * source + 2)),
      noise_engine(mixed(settings.seed, 2 * source + 3)),
      noise("poisson", spacing(settings.noise, settings.base)) {}

EventGenerator::EventGenerator(const GenerateSettings& settings)
    : settings_(settings),
      duration_(settings.duration),
      engine_(mixed(settings.seed, 0)),
      times_engine_(mixed(settings.seed, 1)),
      times_(settings.timing, spacing(settings.rate, settings.base)),
      next_event_(times_.next(times_engine_)) {
  for (std::uint32_t s = 0; s < settings.sources; ++s) {
    streams_.emplace_back(settings, s);
    streams_.back().next_noise = next_noise(streams_.back());
  }
}

void EventGenerator::make_until(Tick time) {
  time = std::min(time, duration_);
  for (; next_event_ < time; next_event_ = times_.next(times_engine_)) make_event(next_event_);
  for (auto& stream : streams_) advance(stream, time);
  made_ = std::max(made_, time);
}

Tick EventGenerator::stop() {
  duration_ = std::min(duration_, std::max(made_, events_end_));
  next_event_ = kNever;
  return duration_;
}

void EventGenerator::clear() {
  for (auto& stream : streams_) stream.made.clear();
  events_.clear();
}

/// Places the first hit at the event's time and the others uniformly within its width, each in a random source.
void EventGenerator::make_event(Tick time) {
  const auto others = poisson_number(engine_, static_cast<double>(settings_.hits - 1));
  MadeEvent event{time, time, 0};
  for (std::uint64_t i = 0; i <= others; ++i) {
    const Tick at =
        i == 0 ? time : time + static_cast<Tick>(uniform(engine_) * static_cast<double>(settings_.width + 1));
    const auto source = uniform_below(engine_, settings_.sources);
    if (at >= duration_) continue;
    streams_[source].waiting.push_back(at);
    event.last = std::max(event.last, at);
    ++event.hits;
  }
  events_.push_back(event);
  events_end_ = time + settings_.width + 2;  // rounding may reach the last tick of the width
}

/// Delivers all hits of the stream before `time`. Later events must not have hits before it.
void EventGenerator::advance(Stream& stream, Tick time) {
  std::ranges::sort(stream.waiting);
  auto event_hit = stream.waiting.begin();
  while (true) {
    const Tick next_event = event_hit == stream.waiting.end() ? kNever : *event_hit;
    const Tick next = std::min(next_event, stream.next_noise);
    if (next >= time) break;
    add(stream, next);
    if (next_event == next) {
      ++event_hit;
    } else {
      stream.next_noise = next_noise(stream);
    }
  }
  stream.waiting.erase(stream.waiting.begin(), event_hit);
}

Tick EventGenerator::next_noise(Stream& stream) const {
  return settings_.noise == 0 ? kNever : stream.noise.next(stream.noise_engine);
}

void EventGenerator::add(Stream& stream, Tick time) {
  auto& made = stream.made;
  made.time.push_back(time);
  made.channel.push_back(stream.system | uniform_below(stream.engine, settings_.channels));
  for (std::uint32_t i = 0; i < settings_.payload; ++i) {
    made.payload.push_back(static_cast<std::uint32_t>(stream.engine()));
  }
}

}  // namespace eventloom
