#include "app/tools/bench/udp_stream.hpp"

#include <algorithm>
#include <utility>

#include "core/runtime/clock.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr std::int64_t kOverdueNs = 5'000'000;
constexpr std::int64_t kUdpAnswerNs = 30'000'000'000;
/// A receiver confirms at the latest after this part of the window or of the queue.
constexpr std::uint64_t kPart = 4;

}  // namespace

UdpSending::UdpSending(const Limits& limits, SendDatagram send)
    : limits_(limits), send_(std::move(send)), quiet_at_(steady_ns()), heard_at_(quiet_at_) {}

bool UdpSending::start(std::span<const std::byte> message) {
  if (started_ - taken_messages_ >= limits_.queue) return false;
  waiting_.push_back(message);
  ++started_;
  while (send_next()) continue;
  return true;
}

bool UdpSending::end() {
  if (!waiting_.empty()) return false;
  ended_ = true;
  ask();
  return true;
}

bool UdpSending::send_next() {
  if (waiting_.empty() || datagrams_ - taken_datagrams_ >= limits_.window) return false;
  const auto message = waiting_.front();
  const auto body = message.subspan(offset_, std::min(limits_.body, message.size() - offset_));
  UdpHeader header;
  header.datagram = datagrams_;
  header.message = messages_;
  header.offset = offset_;
  header.bytes = static_cast<std::uint32_t>(message.size());
  if (!send_(header, body)) return false;
  sent_now_ = true;
  ++datagrams_;
  offset_ += static_cast<std::uint32_t>(body.size());
  if (offset_ == message.size()) {
    waiting_.pop_front();
    offset_ = 0;
    ++messages_;
  }
  return true;
}

void UdpSending::ask() {
  UdpHeader header;
  header.kind = ended_ ? UdpKind::end : UdpKind::mark;
  header.datagram = datagrams_;
  header.message = messages_;
  send_(header, {});  // repeated later if the system has no room
}

bool UdpSending::work(std::int64_t now_ns) {
  while (send_next()) continue;
  const bool sent = std::exchange(sent_now_, false);
  if (sent) quiet_at_ = now_ns;
  if (!waits()) {
    heard_at_ = now_ns;
    return sent;
  }
  if (now_ns - heard_at_ > kUdpAnswerNs) {
    throw UserError(
        "peer udp: a rank has not answered for 30 s: the hosts must share a network without a firewall, whose "
        "interface UCX_NET_DEVICES can name");
  }
  if (now_ns - quiet_at_ > kOverdueNs) {
    ask();
    quiet_at_ = now_ns;
  }
  return sent;
}

void UdpSending::confirmed(const UdpHeader& taken, std::int64_t now_ns) {
  taken_datagrams_ = std::max(taken_datagrams_, std::min(taken.datagram, datagrams_));
  taken_messages_ = std::max(taken_messages_, std::min(taken.message, started_));
  end_taken_ = end_taken_ || taken.bytes != 0;
  quiet_at_ = heard_at_ = now_ns;
}

UdpReceiving::UdpReceiving(std::size_t sender, std::size_t largest, const UdpSending::Limits& limits, SendDatagram send)
    : sender_(sender), limits_(limits), send_(std::move(send)), message_(largest) {}

void UdpReceiving::take(const UdpHeader& header, std::span<const std::byte> body, PeerReceiver& receiver) {
  if (header.kind == UdpKind::data) {
    if (header.datagram >= datagrams_) take_data(header, body, receiver);
    return;
  }
  // Datagrams arrive in order: whatever was sent before this one and has not arrived is lost.
  datagrams_ = std::max(datagrams_, header.datagram);
  skip_to(header.message, receiver);
  asked_ = true;
  ended_ = ended_ || header.kind == UdpKind::end;
}

void UdpReceiving::take_data(const UdpHeader& header, std::span<const std::byte> body, PeerReceiver& receiver) {
  datagrams_ = header.datagram + 1;
  skip_to(header.message, receiver);
  if (header.message != messages_ || header.offset != assembled_ || header.bytes > message_.size() ||
      header.offset + body.size() > header.bytes) {
    return;  // an earlier part of the message was lost
  }
  assembled_ += static_cast<std::uint32_t>(body.size());
  const bool whole = body.size() == header.bytes;
  if (!whole) std::ranges::copy(body, message_.begin() + header.offset);
  if (assembled_ != header.bytes) return;
  receiver.take(sender_, messages_, whole ? body : std::span<const std::byte>(message_).first(header.bytes));
  ++messages_;
  assembled_ = 0;
}

void UdpReceiving::skip_to(std::uint64_t message, PeerReceiver& receiver) {
  if (message <= messages_) return;
  receiver.lose(message - messages_);
  messages_ = message;
  assembled_ = 0;
}

void UdpReceiving::confirm(bool idle) {
  const auto datagrams = datagrams_ - confirmed_datagrams_;
  const auto messages = messages_ - confirmed_messages_;
  const bool much = datagrams * kPart >= limits_.window || messages * kPart >= limits_.queue;
  if (!asked_ && (datagrams == 0 || !(much || idle))) return;
  UdpHeader header;
  header.kind = UdpKind::taken;
  header.datagram = datagrams_;
  header.message = messages_;
  header.bytes = ended_ ? 1 : 0;
  if (!send_(header, {})) return;
  confirmed_datagrams_ = datagrams_;
  confirmed_messages_ = messages_;
  asked_ = false;
}

}  // namespace eventloom
