#include "io/udp/board_session.hpp"

#include <algorithm>
#include <utility>

namespace eventloom {

BoardSession::Sender BoardSession::sender_of(const DatagramHeader& header, std::int64_t now_ns) const {
  if (id_ == header.session) return Sender::present;
  const bool known = std::ranges::find(former_, header.session) != former_.end();
  if (!known) return Sender::next;
  return now_ns - heard_ns_ < kSilence_ns ? Sender::former : Sender::resumed;
}

void BoardSession::begin(const DatagramHeader& header) {
  if (id_) former_.push_back(*id_);
  if (former_.size() > kFormer) former_.pop_front();
  id_ = header.session;
  source_ = header.source;
  opened_ = joined_ = false;
}

bool BoardSession::hears_beginning(const DatagramHeader& header) {
  const bool first = !std::exchange(joined_, true) && former_.empty();
  return first && opened_ && header.sequence < kFirstBuffers;
}

void BoardSession::end(std::uint64_t sequence) {
  ended_ = true;
  end_sequence_ = sequence;
}

}  // namespace eventloom
