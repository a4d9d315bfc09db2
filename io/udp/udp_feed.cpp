#include "io/udp/udp_feed.hpp"

#include <utility>

namespace eventloom {

UdpFeed::UdpFeed(std::shared_ptr<UdpPort> port, std::size_t index)
    : port_(std::move(port)), index_(index), board_(port_->board(index)) {}

UdpFeed::~UdpFeed() {
  board_.queue().stop();
  port_->stop_board(index_);
}

SourceCounts UdpFeed::counts() const {
  auto counts = board_.counts();
  if (index_ != 0) return counts;
  const auto of_port = port_->counts();
  counts["kernel_drops"] = of_port.kernel_drops;
  counts["malformed"] = of_port.malformed;
  counts["foreign"] = of_port.foreign;
  return counts;
}

}  // namespace eventloom
