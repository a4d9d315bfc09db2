#include "io/udp/udp_ports.hpp"

#include "io/udp/udp_feed.hpp"
#include "io/udp/udp_port.hpp"

namespace eventloom {

std::unique_ptr<LiveFeed> UdpPorts::open(const SourceUri& uri, std::uint32_t board, const LiveInputSettings& live,
                                         const TimeBase& base) {
  auto& port = ports_[uri.path()];
  if (!port) port = std::make_shared<UdpPort>(UdpPortSettings::of(uri, live), base);
  return std::make_unique<UdpFeed>(port, board);
}

}  // namespace eventloom
