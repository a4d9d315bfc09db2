#include "io/udp/udp_board.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "core/runtime/log.hpp"
#include "formats/epoch_buffer.hpp"

namespace eventloom {

UdpBoard::UdpBoard(std::string name, const TimeBase& base, StreamHeader assumed, std::size_t most_bytes)
    : name_(std::move(name)), header_(base, std::move(assumed)), stream_(name_, header_), queue_(most_bytes) {}

void UdpBoard::take(const Datagram& datagram, const UdpPeer& from, std::int64_t now_ns) {
  stream_.take(datagram, now_ns, batch_);
  const auto session = datagram.header.session;
  if (stream_.session() == session) {
    peer_.note(from, session, sizeof datagram.header + datagram.contents.size(), now_ns);
  }
}

void UdpBoard::ask_again(const UdpSocket& socket, std::int64_t now_ns) {
  const auto request = stream_.request(now_ns, peer_.may_send());
  if (request.empty()) return;
  peer_.note_sent(request.size());
  // A request that the system refuses is treated like one lost on the way.
  socket.send_to(peer_.address(), request);
}

void UdpBoard::hand_over(bool may_wait) {
  publish();
  if (may_wait) {
    queue_.push(batch_.buffers, batch_.damage, stream_.sent());
  } else if (!queue_.try_push(batch_.buffers, batch_.damage, stream_.sent())) {
    leave_out();
    queue_.push({}, batch_.damage, stream_.sent());
  }
  queue_.complete_to(batch_.complete);
  if (batch_.ended) queue_.end();
  batch_.clear();
}

/// Drops the data instead of waiting: the run may be waiting for later data of the port's other boards.
void UdpBoard::leave_out() {
  std::span<const std::byte> rest(batch_.buffers);
  while (const auto header = read_epoch_buffer_header(rest)) {
    batch_.damage.push_back({.first_epoch = header->first_epoch,
                             .n_epochs = Epoch(header->n_epochs),
                             .n_hits = header->n_hits,
                             .cause = DropCause::congested});
    rest = rest.subspan(header->stored_bytes());
  }
  std::ranges::sort(batch_.damage, {}, &Damage::first_epoch);
  batch_.buffers.clear();
}

void UdpBoard::miss(const std::string& why) {
  ++missed_;
  log::error("{}: nothing received: {}", name_, why);
}

void UdpBoard::publish() {
  const std::lock_guard lock(mutex_);
  counters_ = stream_.counters();
  anomalies_ = stream_.anomalies() + missed_;
  heard_ = heard();
  ended_ = stream_.ended();
}

bool UdpBoard::is_connected() const {
  const std::lock_guard lock(mutex_);
  return heard_ && !ended_;
}

bool UdpBoard::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

std::uint64_t UdpBoard::anomalies() const {
  const std::lock_guard lock(mutex_);
  return anomalies_;
}

Counters UdpBoard::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace eventloom
