#include "io/udp/udp_feed.hpp"

#include <utility>

namespace eventloom {

UdpFeed::UdpFeed(std::shared_ptr<UdpPort> port, std::size_t index)
    : port_(std::move(port)), index_(index), board_(port_->board(index)) {}

UdpFeed::~UdpFeed() {
  board_.queue().stop();
  port_->stop_board(index_);
}

std::optional<std::string> UdpFeed::unheard() const {
  return board_.heard() ? std::nullopt : std::optional(port_->what_came());
}

std::vector<std::string> UdpFeed::remarks() const {
  return index_ == 0 ? port_->remarks() : std::vector<std::string>();
}

std::uint64_t UdpFeed::anomalies() const { return board_.anomalies() + (index_ == 0 ? port_->other_boards() : 0); }

SourceCounts UdpFeed::counts() const {
  SourceCounts counts{board_.counters(), {}};
  if (index_ == 0) counts.counters.add(port_->counters());
  return counts;
}

}  // namespace eventloom
