#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "formats/geometry.hpp"
#include "io/live/live_feed.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

class UdpPort;

/// The ports that a run receives on. Boards of one port share its socket and thread.
class UdpPorts {
 public:
  /// `uri`: udp://[ADDR]:PORT[?sources=3,5,9][&payload=N]; `board`: index of the board at the port. Opening the first
  /// board binds the port, so that no data of the others are missed. Throws UserError for URIs of another form, or when
  /// the address cannot be used.
  std::unique_ptr<LiveFeed> open(const SourceUri& uri, std::uint32_t board, const LiveInputSettings& live,
                                 const TimeBase& base);

 private:
  std::map<std::string, std::shared_ptr<UdpPort>> ports_;  ///< keyed by the URI's path
};

}  // namespace eventloom
