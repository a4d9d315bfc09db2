#pragma once

#include <string>

#include "app/command/listen_place.hpp"

namespace eventloom {

/// `run --tap`: where the events of the first writer are served; each further one takes the next port.
struct TapOption {
  ListenPlace place;
  bool by_request = true;  ///< an MBS stream server, else a transport
};

/// "6002", "0.0.0.0:6002/transport", "mbs://[::1]:6002/stream". Throws UserError.
TapOption parse_tap_option(const std::string& text);

}  // namespace eventloom
