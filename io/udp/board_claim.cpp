#include "io/udp/board_claim.hpp"

namespace eventloom {

bool BoardClaim::keep(const Datagram& datagram, const UdpPeer& from) {
  if (empty()) from_ = from;
  const std::size_t bytes = contents_.size() + datagram.contents.size() + (kept_.size() + 1) * sizeof(Kept);
  if (!(from == from_) || bytes > kMostBytes) return false;
  kept_.push_back({datagram.header, contents_.size(), datagram.contents.size()});
  contents_.insert(contents_.end(), datagram.contents.begin(), datagram.contents.end());
  return true;
}

}  // namespace eventloom
