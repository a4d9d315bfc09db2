#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/ids.hpp"

namespace eventloom {

struct OutputHit {
  Tick time = 0;
  std::uint32_t channel = 0;
  std::uint16_t source = 0;
  std::vector<std::uint32_t> payload;
  std::optional<double> value = {};  ///< set if the file has values; NaN: no payload
};

struct OutputEvent {
  Tick time = 0;
  Tick duration = 0;
  std::uint64_t n_hits = 0;  ///< number of hits; `hits` may hold fewer
  std::uint64_t slice = 0;
  std::uint32_t flags = 0;
  std::uint64_t sources_missing = 0;
  std::vector<OutputHit> hits;
};

/// Some consecutive hits of an event, in columns.
struct HitPiece {
  std::vector<Tick> time;
  std::vector<std::uint32_t> channel;
  std::vector<std::uint16_t> source;
  std::vector<std::uint64_t> words;  ///< number of payload words of each hit
  std::vector<double> value;         ///< empty unless the file has values
};

}  // namespace eventloom
