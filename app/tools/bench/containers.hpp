#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/ids.hpp"

namespace eventloom {

/// Size of hits in one container, and median times per hit, in ns.
struct ContainerCost {
  std::string name;
  std::uint64_t bytes = 0;  ///< all containers, with headers and checksums
  double encode_ns = 0;
  double decode_ns = 0;  ///< checksums verified, hits in columns of times and channels
};

/// Encodes and decodes the same Poisson hits, of one source and without payload, in memory: a spike packet each, packed
/// spike packets (formats/spikes.hpp), and the epoch buffers of an `.epochs` file, read as a builder does. `distance`:
/// mean distance in ticks of 1 ns. Throws std::logic_error when the decoded hits are not those encoded.
std::vector<ContainerCost> measure_containers(std::uint64_t hits, Tick distance, int repeat);

}  // namespace eventloom
