#include "app/generate_events.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>

#include "core/runtime/error.hpp"
#include "formats/epoch_buffer.hpp"
#include "formats/hash.hpp"
#include "io/epochs/stream_writer.hpp"
#include "io/sources/point_process.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kAppendBytes = 1U << 20;

/// Seeds that belong together without being alike.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t stream) {
  return splitmix64(seed + stream * 0x9e3779b97f4a7c15ULL);
}

/// Mean distance of points in ticks.
double spacing(std::uint64_t per_second, const TimeBase& base) {
  return 1e12 / (static_cast<double>(std::max<std::uint64_t>(per_second, 1)) * static_cast<double>(base.tick_ps));
}

StreamHeader header_of(const GenerateSettings& settings, std::uint32_t source) {
  StreamHeader header;
  header.source = source;
  header.base = settings.base;
  header.payload = PayloadTable::uniform(settings.payload);
  header.text = settings.text;
  return header;
}

/// The stream of one source: its noise, and the hits of events as they are handed in.
class Stream {
 public:
  Stream(const GenerateSettings& settings, std::uint32_t source)
      : settings_(settings),
        system_((source % 64) << 22),
        engine_(mixed(settings.seed, 2 * source + 2)),
        noise_engine_(mixed(settings.seed, 2 * source + 3)),
        noise_("poisson", spacing(settings.noise, settings.base)),
        encoder_(source, settings.base.epoch_ticks, 0, {settings.epochs_per_buffer, 512}),
        writer_(stream_path(settings, source), header_of(settings, source)),
        payload_(settings.payload) {
    next_noise_ = noise_time();
  }

  void add_event_hit(Tick time) { waiting_.push_back(time); }

  /// Encodes all hits before `time`; no event hit may come for an earlier one.
  void advance(Tick time) {
    std::ranges::sort(waiting_);
    auto event_hit = waiting_.begin();
    while (true) {
      const Tick next_event = event_hit == waiting_.end() ? settings_.duration : *event_hit;
      const Tick next = std::min(next_event, next_noise_);
      if (next >= std::min(time, settings_.duration)) break;
      add(next);
      if (next_event == next) {
        ++event_hit;
      } else {
        next_noise_ = noise_time();
      }
    }
    waiting_.erase(waiting_.begin(), event_hit);
  }

  StreamSummary finish() {
    advance(settings_.duration);
    encoder_.close(closed_);
    writer_.append(closed_);
    return writer_.finish();
  }

 private:
  Tick noise_time() { return settings_.noise == 0 ? settings_.duration : noise_.next(noise_engine_); }

  void add(Tick time) {
    if (encoder_.must_close_before(time)) {
      encoder_.close(closed_);
      if (closed_.size() >= kAppendBytes) {
        writer_.append(closed_);
        closed_.clear();
      }
    }
    const auto channel = system_ | uniform_below(engine_, settings_.channels);
    for (auto& word : payload_) word = static_cast<std::uint32_t>(engine_());
    encoder_.add(time, channel, payload_);
  }

  const GenerateSettings& settings_;
  std::uint32_t system_;
  RandomEngine engine_;
  RandomEngine noise_engine_;
  PointProcess noise_;
  EpochBufferEncoder encoder_;
  StreamWriter writer_;
  std::vector<std::uint32_t> payload_;
  std::vector<Tick> waiting_;  ///< event hits not yet encoded
  std::vector<std::byte> closed_;
  Tick next_noise_ = 0;
};

class Generator {
 public:
  explicit Generator(const GenerateSettings& settings)
      : settings_(settings),
        engine_(mixed(settings.seed, 0)),
        times_engine_(mixed(settings.seed, 1)),
        times_(settings.timing, spacing(settings.rate, settings.base)),
        truth_(settings.output + "/truth.csv") {
    for (std::uint32_t s = 0; s < settings.sources; ++s) streams_.push_back(std::make_unique<Stream>(settings_, s));
    truth_ << "event,time_first,time_last,n_hits\n";
  }

  GenerateResult run() {
    GenerateResult result;
    // All streams go on together, some events at a time, which bounds what waits.
    constexpr std::uint64_t kEventsPerStep = 1024;
    for (Tick time = times_.next(times_engine_); time < settings_.duration; time = times_.next(times_engine_)) {
      if (result.events % kEventsPerStep == 0) advance(time);
      add_event(time, result);
    }
    for (auto& stream : streams_) {
      const auto summary = stream->finish();
      result.hits.push_back(summary.hits);
      result.bytes += summary.bytes;
    }
    truth_.close();
    if (!truth_) throw UserError("cannot write '" + settings_.output + "/truth.csv'");
    return result;
  }

 private:
  void advance(Tick time) {
    for (auto& stream : streams_) stream->advance(time);
  }

  /// The first hit at the event's time, the others anywhere within its width, each in any source.
  void add_event(Tick time, GenerateResult& result) {
    const auto others = poisson_number(engine_, static_cast<double>(settings_.hits - 1));
    Tick last = time;
    std::uint64_t n = 0;
    for (std::uint64_t i = 0; i <= others; ++i) {
      const Tick at =
          i == 0 ? time : time + static_cast<Tick>(uniform(engine_) * static_cast<double>(settings_.width + 1));
      const auto source = uniform_below(engine_, settings_.sources);
      if (at >= settings_.duration) continue;
      streams_[source]->add_event_hit(at);
      last = std::max(last, at);
      ++n;
    }
    truth_ << result.events << ',' << time << ',' << last << ',' << n << '\n';
    result.events += 1;
    result.event_hits += n;
  }

  const GenerateSettings& settings_;
  RandomEngine engine_;
  RandomEngine times_engine_;
  PointProcess times_;
  std::ofstream truth_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

}  // namespace

std::string stream_path(const GenerateSettings& settings, std::uint32_t source) {
  char name[32];
  std::snprintf(name, sizeof name, "/source_%03u.epochs", source);
  return settings.output + name;
}

GenerateResult generate(const GenerateSettings& settings) { return Generator(settings).run(); }

}  // namespace eventloom
