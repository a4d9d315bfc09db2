#pragma once

#include <cstdint>
#include <string>

namespace eventloom {

/// The user's options for live sources, the same for all sources of a run.
struct LiveOptions {
  std::uint64_t buffer_bytes = std::uint64_t{256} << 20;  ///< maximum held per source
  bool drop_when_full = false;   ///< drop epoch buffers when the buffer is full; otherwise receiving waits
  double reconnect_seconds = 0;  ///< how long to try to reconnect to a lost server
  bool waits_for_peers = false;  ///< see LiveReading
  std::string record;            ///< folder for recordings; empty: none
  bool keep_recordings = false;  ///< keep recordings of an earlier run in that folder; false: they are an error
};

}  // namespace eventloom
