#include "app/tools/bench/reply_board.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "app/tools/bench/loopback_socket.hpp"
#include "core/runtime/clock.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kEchoBytes = 152;   ///< the size of a reply of four hits
constexpr std::size_t kTimeOffset = 72;   ///< place of the event's time in a reply
constexpr std::uint64_t kHitSpacing = 2;  ///< ticks between the hits of an event
constexpr std::int64_t kEndEveryNs = 10'000'000;

DatagramSender::Settings sender_settings(const ReplyBoardSettings& settings) {
  DatagramSender::Settings to;
  to.address = settings.to;
  to.mark_after_ns = settings.mark_ns;
  to.may_be_refused = true;  // the run does not listen from the beginning
  return to;
}

/// An empty datagram ends it.
void echo(int socket) {
  std::array<std::byte, 2048> data{};
  while (true) {
    sockaddr_in from{};
    socklen_t length = sizeof from;
    const auto n = ::recvfrom(socket, data.data(), data.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
    if (n == 0) return;
    if (n > 0)
      ::sendto(socket, data.data(), static_cast<std::size_t>(n), 0, reinterpret_cast<sockaddr*>(&from), length);
  }
}

}  // namespace

UdpEcho::UdpEcho() : socket_(bound_at_loopback()), port_(port_of(socket_)), thread_(echo, socket_.number()) {}

UdpEcho::~UdpEcho() {
  const auto address = loopback_address(port_);
  ::sendto(socket_.number(), nullptr, 0, 0, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  thread_.join();
}

ReplyBoard::ReplyBoard(const ReplyBoardSettings& settings, std::uint16_t echo)
    : settings_(settings),
      start_(steady_ns()),
      replies_(bound_at_loopback()),
      echoes_(bound_at_loopback()),
      port_(port_of(replies_)),
      sender_(sender_settings(settings), StreamHeader{0, settings.geometry.base, {}, "bench reply"}) {
  connect_at_loopback(echoes_, echo);
}

std::int64_t ReplyBoard::now() const { return steady_ns() - start_; }

Epoch ReplyBoard::epoch_at(std::int64_t ns) const {
  return Epoch(static_cast<std::uint64_t>(ns) / settings_.geometry.base.epoch_ticks);
}

bool ReplyBoard::begin(std::int64_t most_ns) {
  const auto deadline = now() + most_ns;
  while (times_.loop.count() == 0) {
    if (now() > deadline) return false;
    turn();
  }
  return true;
}

ReplyTimes ReplyBoard::measure(std::uint64_t n, std::int64_t patience_ns) {
  waiting_.clear();  // replies to earlier events are ignored, and so is an earlier echo
  next_echo_ = 0;
  echo_at_ = kNoEcho;
  times_ = {};
  while (times_.events < n) turn();
  paused_ = true;
  const auto deadline = now() + patience_ns;
  while (!waiting_.empty() && now() < deadline) turn();
  times_.lost = times_.events - times_.loop.count();
  return times_;
}

void ReplyBoard::end() {
  for (int i = 0; i < DatagramSender::kEnds; ++i) {
    sender_.end(epoch_at(now()) + 1, now());
    sender_.flush();
    ::poll(nullptr, 0, static_cast<int>(kEndEveryNs / 1'000'000));
  }
}

/// Sends what is due, waits for the next event, and receives.
void ReplyBoard::turn() {
  const auto at = now();
  if (!paused_ && at >= next_event_) {
    send_event(at);
    next_event_ = std::max(next_event_ + settings_.period_ns, at);
    next_echo_ = at + settings_.period_ns / 2;
  } else if (echo_at_ == kNoEcho && at >= next_echo_ && next_echo_ != 0) {
    send_echo();
  }
  const auto sent = sender_.count().datagrams;
  sender_.keep_up(epoch_at(at), at);
  sender_.flush();
  if (sender_.count().datagrams != sent) note_complete(at);
  wait();
  take_replies();
  take_echoes();
}

void ReplyBoard::send_echo() {
  std::array<std::byte, kEchoBytes> data{};
  next_echo_ = 0;
  echo_at_ = now();
  std::memcpy(data.data(), &echo_at_, sizeof echo_at_);
  if (::send(echoes_.number(), data.data(), data.size(), MSG_DONTWAIT) < 0) echo_at_ = kNoEcho;
}

void ReplyBoard::send_event(std::int64_t at) {
  const auto& base = settings_.geometry.base;
  // The hits lie in one epoch, after those sent before.
  auto tick = static_cast<std::uint64_t>(at);
  const auto room = settings_.hits * kHitSpacing;
  if (tick % base.epoch_ticks + room >= base.epoch_ticks) tick -= tick % base.epoch_ticks % room + room;
  EpochBufferEncoder encoder(0, base.epoch_ticks, 0, {});
  for (std::uint32_t hit = 0; hit < settings_.hits; ++hit) encoder.add(Tick(tick + kHitSpacing * hit), hit, {});
  std::vector<std::byte> buffer;
  encoder.close(buffer);
  waiting_.push_back({tick, now(), {}});
  times_.events += 1;
  sender_.send(buffer, at);
  sender_.flush();
  note_complete(at);
}

/// A datagram sent at `at` states that all earlier epochs are complete.
void ReplyBoard::note_complete(std::int64_t at) {
  const auto& geometry = settings_.geometry;
  const auto slice = geometry.slice_ticks().value;
  for (auto& event : waiting_) {
    if (event.complete) continue;
    const auto needed = (event.tick / slice + 1) * slice + geometry.margin().value;
    if (epoch_at(at).value * geometry.base.epoch_ticks < needed) return;
    event.complete = at;
  }
}

void ReplyBoard::take_replies() {
  std::array<std::byte, 2048> data{};
  while (::recv(replies_.number(), data.data(), data.size(), MSG_DONTWAIT) > 0) {
    const auto at = now();
    std::uint64_t tick = 0;
    std::memcpy(&tick, data.data() + kTimeOffset, sizeof tick);
    const auto found = std::ranges::find(waiting_, tick, &Sent::tick);
    if (found == waiting_.end()) continue;
    times_.loop.add(static_cast<double>(at - found->at));
    if (found->complete) times_.complete.add(static_cast<double>(at - *found->complete));
    waiting_.erase(found);
  }
}

void ReplyBoard::take_echoes() {
  std::array<std::byte, kEchoBytes> data{};
  while (::recv(echoes_.number(), data.data(), data.size(), MSG_DONTWAIT) > 0) {
    std::int64_t sent = 0;
    std::memcpy(&sent, data.data(), sizeof sent);
    if (sent != echo_at_) continue;
    times_.echo.add(static_cast<double>(now() - sent));
    echo_at_ = kNoEcho;
  }
}

/// Returns when something has arrived or is due.
void ReplyBoard::wait() const {
  auto next = now() + settings_.mark_ns / 2;
  if (!paused_) next = std::min(next, next_event_);
  if (next_echo_ != 0) next = std::min(next, next_echo_);
  const auto left = std::max<std::int64_t>(next - now(), 0);
  const timespec most{left / 1'000'000'000, left % 1'000'000'000};
  std::array<pollfd, 2> both = {pollfd{replies_.number(), POLLIN, 0}, pollfd{echoes_.number(), POLLIN, 0}};
  ::ppoll(both.data(), both.size(), &most, nullptr);
}

}  // namespace eventloom
