#include "io/udp/udp_board.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "core/runtime/log.hpp"
#include "formats/epoch_buffer.hpp"

namespace eventloom {

namespace {

constexpr const char* kNotSilent = "another address counts as the board's only after a second of silence";

}  // namespace

UdpBoard::UdpBoard(std::string name, const TimeBase& base, StreamHeader assumed, std::size_t most_bytes)
    : name_(std::move(name)), header_(base, std::move(assumed)), stream_(name_, header_), queue_(most_bytes) {}

void UdpBoard::take(const Datagram& datagram, const UdpPeer& from, std::int64_t now_ns) {
  // After the end, nothing that comes has an effect; it is only counted.
  if (stream_.ended()) return stream_.take(datagram, now_ns, batch_);
  if (!peer_.is_other(from)) {
    refuse_claim();
    take_believed(datagram, from, now_ns);
  } else if (!claim_.keep(datagram, from)) {
    refuse(datagram, from, kNotSilent);
  }
}

void UdpBoard::take_believed(const Datagram& datagram, const UdpPeer& from, std::int64_t now_ns) {
  const auto& header = datagram.header;
  if (!stream_.ended() && header.kind == DatagramKind::end && !believes_end(datagram, from, now_ns)) return;
  const auto before = stream_.session();
  stream_.take(datagram, now_ns, batch_);
  if (stream_.session() != header.session) return;
  if (peer_.is_other(from)) successor_.emplace(before);
  if (successor_) successor_->note(header);
  peer_.note(from, sizeof header + datagram.contents.size(), now_ns);
}

/// Judges an end: refuses it, lets it wait, or returns true if it is believed now.
bool UdpBoard::believes_end(const Datagram& datagram, const UdpPeer& from, std::int64_t now_ns) {
  using End = BoardSuccessor::End;
  if (datagram.header.session != stream_.session()) {
    refuse(datagram, from, "it ends a session that the board is not in");
    return false;
  }
  if (!peer_.is_other(from) && !successor_) return true;
  const auto end = peer_.is_other(from) ? End::refused : successor_->judge_end(datagram, now_ns);
  if (end == End::refused) refuse(datagram, from, "it ends the board from elsewhere, whence no data have come");
  return end == End::believed;
}

void UdpBoard::take_due_end(std::int64_t now_ns) {
  const auto* end = successor_ ? successor_->due_end(now_ns) : nullptr;
  if (end == nullptr) return;
  stream_.take({end->header, end->contents}, now_ns, batch_);
  successor_.reset();
}

void UdpBoard::pass_time(std::int64_t now_ns) {
  if (!claim_.empty() && peer_.is_silent(now_ns)) {
    const auto claim = std::exchange(claim_, {});
    claim.for_each([&](const Datagram& datagram) { take_believed(datagram, claim.from(), now_ns); });
  }
  take_due_end(now_ns);
  stream_.pass_time(now_ns, batch_);
}

void UdpBoard::finish() {
  refuse_claim();
  stream_.finish(batch_);
}

void UdpBoard::refuse_claim() {
  if (claim_.empty()) return;
  const auto claim = std::exchange(claim_, {});
  claim.for_each([&](const Datagram& datagram) { refuse(datagram, claim.from(), kNotSilent); });
}

void UdpBoard::refuse(const Datagram& datagram, const UdpPeer& from, const char* why) {
  ++foreign_;
  foreign_data_ |= datagram.header.kind == DatagramKind::data;
  if (!told_foreign_.admit()) return;
  const auto own = peer_.is_other(from) ? " (the board sends from " + text_of(peer_.address()) + ")" : "";
  log::warn("{}: a datagram from {}{} is ignored: {}{}", name_, text_of(from), own, why,
            told_foreign_.at_last("; further ones are only counted"));
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

void UdpBoard::publish() {
  const std::lock_guard lock(mutex_);
  counters_ = stream_.counters();
  counters_[Metric::foreign] = foreign_;
  anomalies_ = stream_.anomalies() + (foreign_data_ ? 1 : 0);
  heard_ = stream_.heard();
  ended_ = stream_.ended();
}

bool UdpBoard::heard() const {
  const std::lock_guard lock(mutex_);
  return heard_;
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
