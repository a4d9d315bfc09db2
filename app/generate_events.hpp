#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/geometry.hpp"

namespace eventloom {

/// Recorded streams with known events: what `eventloom generate` writes.
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

struct GenerateResult {
  std::uint64_t events = 0;
  std::uint64_t event_hits = 0;
  std::vector<std::uint64_t> hits;  ///< by source
  std::uint64_t bytes = 0;
};

/// Path of the stream of a source.
std::string stream_path(const GenerateSettings& settings, std::uint32_t source);

/// A function of the settings alone. Uses memory independent of the duration. Throws UserError.
GenerateResult generate(const GenerateSettings& settings);

}  // namespace eventloom
