#include "io/mbs/mbs_server.hpp"

#include <poll.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "core/runtime/clock.hpp"
#include "core/runtime/stop_signal.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kMaxClients = 64;
constexpr std::uint64_t kShownClients = 100;  ///< clients whose connections are reported
constexpr std::uint64_t kShownEvents = 10;
constexpr int kGroupsPerTurn = 8;  ///< before the clients get their turn
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kLongestPoll = kSecond / 4;  ///< signals are checked this often
constexpr std::int64_t kStopNs = 2 * kSecond;       ///< for clients to take the rest of the buffers begun

MbsGroupPtr make_handshake(const MbsLayout& layout) {
  const auto bytes = encode_mbs_handshake(layout);
  MbsGroup group;
  group.bytes.assign(bytes.begin(), bytes.end());
  return std::make_shared<const MbsGroup>(std::move(group));
}

const char* to_text(MbsClientEnd end) {
  switch (end) {
    case MbsClientEnd::served: return "has been served";
    case MbsClientEnd::timed_out: return "was idle for too long and is disconnected";
    case MbsClientEnd::refused: return "sent an invalid MBS request and is disconnected";
    default: return "has left";
  }
}

}  // namespace

MbsServer::MbsServer(const MbsServerSettings& settings, MbsRecording& recording)
    : settings_(settings),
      recording_(recording),
      listener_(listen_on(settings.address, settings.port)),
      packer_(settings.layout),
      pacer_(settings.pace),
      handshake_(make_handshake(settings.layout)) {}

void MbsServer::run() {
  while (true) {
    now_ = steady_ns();
    if (stop_signal() != 0 && !stopping_) stop();
    advance();
    serve_clients();
    if (phase_ == Phase::done) return;
    wait();
  }
}

// ---------------------------------------------------------------- phases

void MbsServer::advance() {
  if (phase_ == Phase::waiting && clients_.size() >= settings_.clients) begin();
  if (phase_ == Phase::sending) produce();
  if (phase_ == Phase::ending) end_round();
}

void MbsServer::begin() {
  phase_ = Phase::sending;
  pacer_.start(now_);
  delivered_at_ = now_;
  at_end_ = false;
  due_.reset();
  alone_since_.reset();
}

void MbsServer::end_sending() {
  phase_ = Phase::ending;
  totals_.time_jumps = pacer_.time_jumps();
  for (auto& client : clients_) client.finish();
  if (settings_.once) listener_.close();
}

/// Called when all clients of this round are gone.
void MbsServer::end_round() {
  if (stopping_ && now_ > stop_by_) {
    for (const auto& client : clients_) remove(client);
    clients_.clear();
  }
  if (std::ranges::any_of(clients_, [](const auto& client) { return client.is_finishing(); })) return;
  if (settings_.once || stopping_) {
    phase_ = Phase::done;
    return;
  }
  recording_.rewind();
  phase_ = Phase::waiting;
}

void MbsServer::stop() {
  stopping_ = true;
  stop_by_ = now_ + kStopNs;
  spdlog::info("{}: stopping; clients get the rest of the buffers begun", signal_name(stop_signal()));
  listener_.close();
  for (auto& client : clients_) client.cut();
  phase_ = Phase::ending;
}

// ---------------------------------------------------------------- events to groups

/// Whether clients can take another group.
bool MbsServer::may_produce() const {
  const auto has_room = [this](const auto& client) {
    return client.is_empty() || client.queued_bytes() < settings_.client_bytes;
  };
  if (clients_.empty()) return false;
  if (!settings_.by_request) return std::ranges::all_of(clients_, has_room);
  if (!settings_.pace.flat_out()) return true;
  return std::ranges::any_of(clients_, [](const auto& client) { return client.is_waiting(); });
}

void MbsServer::produce() {
  if (clients_.empty() && !alone_since_) alone_since_ = now_;
  if (!clients_.empty() && alone_since_) {
    pacer_.delay(now_ - *alone_since_);
    if (due_) *due_ += now_ - *alone_since_;
    alone_since_.reset();
  }
  for (int turn = 0; turn < kGroupsPerTurn && may_produce(); ++turn) {
    const auto group = next_group();
    if (group != nullptr) deliver(group);
    if (at_end_ && !packer_.has_begun()) return end_sending();
    if (group == nullptr) return;
  }
}

/// Nothing when no group is full or due.
MbsGroupPtr MbsServer::next_group() {
  while (next_event()) {
    if (*due_ > now_) now_ = steady_ns();
    if (*due_ > now_) return overdue();
    if (auto full = pack()) return full;
  }
  return packer_.flush();
}

/// The next event to be packed; false at the end.
bool MbsServer::next_event() {
  if (due_) return true;
  if (at_end_ || !recording_.next()) {
    at_end_ = true;
    return false;
  }
  due_ = settings_.pace.flat_out() ? now_ : pacer_.due(settings_.pace.speed > 0 ? recording_.time() : std::nullopt);
  return true;
}

/// Delivers the group completed without the event.
MbsGroupPtr MbsServer::pack() {
  due_.reset();
  const auto& event = recording_.event();
  const std::uint64_t bytes = LmdElement{.dlen = event.dlen}.bytes();
  if (!packer_.can_hold(bytes)) {
    if (++totals_.too_large <= kShownEvents) {
      spdlog::error("event {} of {} bytes is dropped: buffers hold events of {} bytes; use a larger --buffer-size{}",
                    event.number, bytes, packer_.largest_event(),
                    totals_.too_large == kShownEvents ? "; further ones are only counted" : "");
    }
    return nullptr;
  }
  ++totals_.events;
  totals_.event_bytes += bytes;
  const bool had_begun = packer_.has_begun();
  auto full = packer_.add(event);
  if (!had_begun || full != nullptr) begun_at_ = now_;
  return full;
}

/// No event is due: sends events that have waited long enough, or a sign of life.
MbsGroupPtr MbsServer::overdue() {
  if (packer_.has_begun()) return now_ - begun_at_ >= settings_.flush_after.count() ? packer_.flush() : nullptr;
  const bool silent = now_ - delivered_at_ >= settings_.keep_alive.count();
  const bool wanted = std::ranges::all_of(clients_, [](const auto& client) { return client.is_empty(); });
  return settings_.layout.native && silent && wanted ? packer_.keep_alive() : nullptr;
}

void MbsServer::deliver(const MbsGroupPtr& group) {
  totals_.buffers += group->buffers;
  delivered_at_ = now_;
  for (auto& client : clients_) {
    while (settings_.by_request && !client.is_empty() && client.queued_bytes() >= settings_.client_bytes) {
      client.drop_oldest();
    }
    client.queue(group);
  }
}

// ---------------------------------------------------------------- clients

void MbsServer::accept_all() {
  while (true) {
    std::string name;
    auto socket = accept_from(listener_, name);
    if (socket.fd() < 0) {
      if (errno == ECONNABORTED || errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      spdlog::warn("cannot accept a client: {}", std::strerror(errno));
      listen_again_at_ = now_ + kSecond;
      return;
    }
    if (++totals_.clients <= kShownClients) spdlog::info("client {} has connected", name);
    if (clients_.size() == kMaxClients) {
      ++totals_.refused;
      continue;
    }
    clients_.emplace_back(std::move(socket), std::move(name), settings_.by_request, handshake_, now_);
  }
}

void MbsServer::serve_clients() {
  for (auto& client : clients_) {
    client.send(now_);
    client.expire(now_, settings_.client_timeout.count());
    if (client.end() != MbsClientEnd::none) remove(client);
  }
  std::erase_if(clients_, [](const auto& client) { return client.end() != MbsClientEnd::none; });
}

void MbsServer::remove(const MbsServerClient& client) {
  const auto& counts = client.counts();
  auto& sent = totals_.sent;
  sent.events += counts.events;
  sent.buffers += counts.buffers;
  sent.bytes += counts.bytes;
  sent.dropped_events += counts.dropped_events;
  sent.dropped_buffers += counts.dropped_buffers;
  if (client.end() == MbsClientEnd::timed_out) ++totals_.timed_out;
  if (client.end() == MbsClientEnd::refused) ++totals_.refused;
  if (totals_.clients > kShownClients) return;
  spdlog::info("client {} {}: {} events in {} buffers; dropped {} events in {} buffers", client.name(),
               to_text(client.end()), counts.events, counts.buffers, counts.dropped_events, counts.dropped_buffers);
}

/// Waits until there is something to do without a client's request.
std::int64_t MbsServer::wait_ns() const {
  if (phase_ == Phase::waiting && clients_.size() >= settings_.clients) return 0;
  if (phase_ == Phase::ending && clients_.empty()) return 0;
  if (phase_ != Phase::sending || !may_produce()) return kLongestPoll;
  if (!due_) return 0;
  auto until = *due_;
  if (packer_.has_begun()) until = std::min(until, begun_at_ + settings_.flush_after.count());
  return std::clamp(until - now_, std::int64_t{0}, kLongestPoll);
}

void MbsServer::wait() {
  std::vector<pollfd> polled;
  for (const auto& client : clients_) {
    const int events = (client.reads() ? POLLIN : 0) | (client.writes() ? POLLOUT : 0);
    polled.push_back({.fd = client.fd(), .events = static_cast<short>(events), .revents = 0});
  }
  const bool listens = listener_.fd() >= 0 && now_ >= listen_again_at_;
  if (listens) polled.push_back({.fd = listener_.fd(), .events = POLLIN, .revents = 0});
  const timespec timeout{.tv_sec = 0, .tv_nsec = wait_ns()};
  if (::ppoll(polled.data(), polled.size(), &timeout, nullptr) <= 0) return;
  now_ = steady_ns();
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    if ((polled[i].revents & POLLIN) != 0) {
      clients_[i].receive(now_);
    } else if ((polled[i].revents & (POLLHUP | POLLERR)) != 0) {
      clients_[i].hang_up();
    }
  }
  if (listens && polled.back().revents != 0) accept_all();
}

}  // namespace eventloom
