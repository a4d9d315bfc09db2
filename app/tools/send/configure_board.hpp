#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace eventloom {

struct ConfigureSettings {
  std::string file;
  std::string to;  ///< udp://HOST:PORT of the board
  std::size_t datagram_bytes = 1472;
  std::uint64_t bandwidth = 0;  ///< limit for all pieces together, bytes per second; 0: no limit
};

/// Transfers a file to a board (formats/datagram_reply.hpp): shows progress on standard error and prints the result.
/// Returns the exit code. Throws UserError if the file cannot be read, or the board does not answer or refuses. Ends
/// early, to be continued later, once `stopped` returns true or the board falls silent.
int configure_board(const ConfigureSettings& settings, const std::function<bool()>& stopped);

}  // namespace eventloom
