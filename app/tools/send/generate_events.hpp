#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/geometry.hpp"
#include "formats/stream_file.hpp"
#include "io/generator/point_process.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Settings of streams with known events, which `eventloom generate` writes or sends.
struct GenerateSettings {
  std::string output;  ///< folder
  std::uint32_t sources = 4;
  std::uint64_t rate = 100'000;  ///< events per second
  std::string timing = "poisson";
  std::uint64_t hits = 8;   ///< mean number of hits per event
  Tick width = 50;          ///< maximum distance of an event's hits from its first one
  std::uint64_t noise = 0;  ///< rate per source of hits that belong to no event, per second
  std::uint32_t channels = 1024;
  std::uint8_t payload = 0;  ///< words per hit
  Tick duration = 0;
  std::uint64_t seed = 1;
  std::uint32_t epochs_per_buffer = 16;
  TimeBase base;
  std::string text;  ///< the options, recorded in the stream headers and the truth
};

/// Returns the stream header of a source.
StreamHeader header_of(const GenerateSettings& settings, std::uint32_t source);

/// A generated event.
struct MadeEvent {
  Tick first = 0;
  Tick last = 0;
  std::uint64_t hits = 0;
};

/// Generates the hits of all sources up to a given time. The result depends only on the settings, not on the steps.
class EventGenerator {
 public:
  /// `settings` must outlive the generator. Throws UserError for an unknown timing.
  explicit EventGenerator(const GenerateSettings& settings);
  EventGenerator(const EventGenerator&) = delete;
  EventGenerator& operator=(const EventGenerator&) = delete;

  /// Appends all hits before `time` to hits() and all events that begin before it to events(). No hit or event begins
  /// at or after the duration.
  void make_until(Tick time);
  /// Ends the streams early, after the last event generated, and returns the new duration.
  Tick stop();

  /// Hits of a source generated since clear(), in ascending time order.
  [[nodiscard]] const HitBlock& hits(std::uint32_t source) const { return streams_[source].made; }
  [[nodiscard]] const std::vector<MadeEvent>& events() const { return events_; }
  void clear();

 private:
  struct Stream {
    Stream(const GenerateSettings& settings, std::uint32_t source);

    std::uint32_t system;  ///< system number of the stream's channels
    RandomEngine engine;
    RandomEngine noise_engine;
    PointProcess noise;
    Tick next_noise = 0;
    std::vector<Tick> waiting;  ///< event hits whose time has not yet been reached
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
  Tick next_event_ = 0;  ///< time of the next event
  Tick events_end_ = 0;  ///< all hits of the events so far are before this time
  Tick made_ = 0;        ///< all hits before this time have been generated
  std::vector<Stream> streams_;
  std::vector<MadeEvent> events_;
};

}  // namespace eventloom
