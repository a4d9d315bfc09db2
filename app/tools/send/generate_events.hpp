#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/geometry.hpp"
#include "formats/stream_file.hpp"
#include "io/generator/point_process.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Streams with known events, written or sent by `eventloom generate`.
struct GenerateSettings {
  std::string output;  ///< folder
  std::uint32_t sources = 4;
  std::uint64_t rate = 100'000;  ///< events per second
  std::string timing = "poisson";
  std::uint64_t hits = 8;   ///< mean hits of an event
  Tick width = 50;          ///< the hits of an event lie within it
  std::uint64_t noise = 0;  ///< hits per second of each source that belong to no event
  std::uint32_t channels = 1024;
  std::uint8_t payload = 0;  ///< words of each hit
  Tick duration = 0;
  std::uint64_t seed = 1;
  std::uint32_t epochs_per_buffer = 16;
  TimeBase base;
  std::string text;  ///< the options, for the streams' headers and the truth
};

/// Header of the stream of a source.
StreamHeader header_of(const GenerateSettings& settings, std::uint32_t source);

/// A generated event.
struct MadeEvent {
  Tick first = 0;
  Tick last = 0;
  std::uint64_t hits = 0;
};

/// Generates the hits of all sources up to a given time. The result is a function of the settings alone, whatever the
/// steps.
class EventGenerator {
 public:
  /// `settings` must outlive it. Throws UserError for an unknown timing.
  explicit EventGenerator(const GenerateSettings& settings);
  EventGenerator(const EventGenerator&) = delete;
  EventGenerator& operator=(const EventGenerator&) = delete;

  /// Appends to hits() all hits before `time`, and to events() all events that begin before it. Their times are below
  /// the duration.
  void make_until(Tick time);
  /// Ends the streams early, after the last event generated: returns the new duration.
  Tick stop();

  /// Hits of a source, in rising time, generated since clear().
  [[nodiscard]] const HitBlock& hits(std::uint32_t source) const { return streams_[source].made; }
  [[nodiscard]] const std::vector<MadeEvent>& events() const { return events_; }
  void clear();

 private:
  struct Stream {
    Stream(const GenerateSettings& settings, std::uint32_t source);

    std::uint32_t system;  ///< of its channels
    RandomEngine engine;
    RandomEngine noise_engine;
    PointProcess noise;
    Tick next_noise = 0;
    std::vector<Tick> waiting;  ///< hits of events, not before their time
    HitBlock made;
  };

  void make_event(Tick time);
  void advance(Stream& stream, Tick time);
  void add(Stream& stream, Tick time);
  [[nodiscard]] Tick next_noise(Stream& stream) const;

  const GenerateSettings& settings_;
  Tick duration_;
  RandomEngine engine_;
  RandomEngine times_engine_;
  PointProcess times_;
  Tick next_event_ = 0;  ///< time
  Tick events_end_ = 0;  ///< after all hits of the events so far
  Tick made_ = 0;        ///< all hits before it have been generated
  std::vector<Stream> streams_;
  std::vector<MadeEvent> events_;
};

}  // namespace eventloom
