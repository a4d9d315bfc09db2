#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace eventloom {

struct ConfigureSettings {
  std::string file;
  std::vector<std::string> to;  ///< udp://HOST:PORT of each board
  std::size_t datagram_bytes = 1472;
  std::uint64_t bandwidth = 0;  ///< limit for all pieces to all boards together, bytes per second; 0: no limit
};

/// Transfers a file to boards (formats/datagram_reply.hpp), to all at once: shows progress on standard error and prints
/// the result of each. Returns the exit code: if some boards do not get the file, 2 if any of them does not answer or
/// refuses it, otherwise 3 if any has received something else, otherwise 75. Throws UserError if the file cannot be
/// read, or the only board does not answer or refuses. Ends early, to be continued later, once `stopped` returns true
/// or the boards fall silent.
int configure_boards(const ConfigureSettings& settings, const std::function<bool()>& stopped);

}  // namespace eventloom
