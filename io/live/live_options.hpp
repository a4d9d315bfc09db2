#pragma once

#include <cstdint>
#include <string>

namespace eventloom {

/// What the user says of live sources, the same for all of a run.
struct LiveOptions {
  std::uint64_t buffer_bytes = std::uint64_t{256} << 20;  ///< held of each source, at most
  bool drop_when_full = false;   ///< leave out epoch buffers when as much is held; otherwise receiving waits
  double reconnect_seconds = 0;  ///< a lost server is looked for again for so long
  std::string record;            ///< folder for what is received; empty: it is not kept
  bool go_on = false;            ///< recordings of an earlier run in that folder stay; otherwise they are in the way
};

}  // namespace eventloom
