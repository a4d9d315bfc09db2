#include "io/serve/mbs_clients.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "core/runtime/clock.hpp"
#include "core/runtime/log.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kShownClients = 100;  ///< most connections that are reported
constexpr std::int64_t kOneSecond = 1'000'000'000;

MbsGroupPtr make_handshake(const MbsLayout& layout) {
  const auto bytes = encode_mbs_handshake(layout);
  MbsGroup group;
  group.bytes.assign(bytes.begin(), bytes.end());
  return std::make_shared<const MbsGroup>(std::move(group));
}

bool is_connected(const MbsServerClient& client) { return client.is_admitted() && client.end() == MbsClientEnd::none; }

const char* to_text(MbsClientEnd end) {
  switch (end) {
    case MbsClientEnd::served: return "has been served";
    case MbsClientEnd::timed_out: return "was idle for too long and is disconnected";
    case MbsClientEnd::refused: return "sent an invalid MBS request and is disconnected";
    case MbsClientEnd::unread: return "has left data unread";
    default: return "has left";
  }
}

}  // namespace

MbsClients::MbsClients(const MbsClientsSettings& settings, const MbsLayout& layout)
    : settings_(settings),
      listener_(listen_on(settings.address, settings.port, settings.advice)),
      handshake_(make_handshake(layout)) {}

std::size_t MbsClients::size() const {
  return static_cast<std::size_t>(std::ranges::count_if(clients_, &MbsServerClient::is_admitted));
}

bool MbsClients::is_full(const MbsServerClient& client) const {
  return !client.is_empty() && client.queued_bytes() >= settings_.client_bytes;
}

bool MbsClients::all_have_room() const {
  return std::ranges::none_of(clients_, [this](const auto& client) { return is_full(client); });
}

bool MbsClients::all_are_empty() const {
  return std::ranges::all_of(clients_, [](const auto& client) { return client.is_empty(); });
}

bool MbsClients::any_is_waiting() const {
  return std::ranges::any_of(clients_, [](const auto& client) { return client.is_waiting(); });
}

bool MbsClients::any_is_finishing() const {
  return std::ranges::any_of(clients_, [](const auto& client) { return client.is_finishing(); });
}

void MbsClients::begin_round() {
  round_ = Round::begun;
  valid_ = size();
}

void MbsClients::end_round() {
  for (const auto& group : std::exchange(left_over_, {})) totals_.lost_events += group->events;
  round_ = Round::none;
}

void MbsClients::forget_round() {
  left_over_.clear();
  round_ = Round::none;
}

void MbsClients::deliver(const MbsGroupPtr& group) {
  if (round_ == Round::begun) round_ = Round::delivered;
  const bool alone = size() == 1;
  for (auto& client : clients_) {
    if (!client.is_admitted()) continue;
    while (settings_.drops && is_full(client)) client.drop_oldest();
    client.queue(group);
    if (alone) client.count_alone(group->events);
  }
}

void MbsClients::finish() {
  if (round_ == Round::delivered) round_ = Round::finishing;
  for (auto& client : clients_) {
    if (client.is_admitted()) client.finish();
  }
}

void MbsClients::cut() {
  for (auto& client : clients_) {
    if (client.is_admitted()) client.cut();
  }
}

void MbsClients::drop_all() {
  for (const auto& client : clients_) remove(client);
  clients_.clear();
}

void MbsClients::accept_all() {
  while (true) {
    std::string name;
    auto socket = accept_from(listener_, name);
    if (socket.fd() >= 0) {
      accept(std::move(socket), std::move(name));
      continue;
    }
    if (errno == ECONNABORTED || errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return;
    log::warn("{}cannot accept a client: {}", settings_.name, std::strerror(errno));
    listen_again_at_ = steady_ns() + kOneSecond;
    return;
  }
}

void MbsClients::accept(MbsServerSocket socket, std::string name) {
  ++totals_.connected;
  if (clients_.size() == settings_.most) {
    ++totals_.refused;
    if (reports()) log::info("{}client {} is refused: there are {} already", settings_.name, name, settings_.most);
    return;
  }
  clients_.emplace_back(std::move(socket), std::move(name), settings_.by_request, handshake_, steady_ns());
}

void MbsClients::admit(MbsServerClient& client) {
  ++totals_.clients;
  ++valid_;
  if (reports()) log::info("{}client {} has connected", settings_.name, client.name());
  if (round_ == Round::finishing) return;
  for (auto& group : std::exchange(left_over_, {})) client.queue(std::move(group));
}

void MbsClients::serve(std::int64_t now) {
  for (auto& client : clients_) {
    if (!round_is_void() && client.admit(now, settings_.silence.count())) admit(client);
    client.send(now);
    client.expire(now, settings_.timeout.count());
    if (client.end() != MbsClientEnd::none) remove(client);
  }
  std::erase_if(clients_, [](const auto& client) { return client.end() != MbsClientEnd::none; });
}

bool MbsClients::reports() const { return totals_.connected <= kShownClients; }

void MbsClients::remove(const MbsServerClient& client) {
  if (!client.is_admitted()) return forget(client);
  const bool holds = !settings_.drops || round_ != Round::none;
  if (holds && std::ranges::none_of(clients_, is_connected)) left_over_ = client.unsent();
  if (client.end() == MbsClientEnd::refused) return remove_refused(client);
  const auto& counts = client.counts();
  totals_.sent.add(counts);
  if (client.end() == MbsClientEnd::timed_out) ++totals_.timed_out;
  if (client.end() == MbsClientEnd::unread) note_unread(client);
  if (!reports()) return;
  log::info("{}client {} {}: {} events in {} buffers; dropped {} events in {} buffers", settings_.name, client.name(),
            to_text(client.end()), counts.events, counts.buffers, counts.dropped_events, counts.dropped_buffers);
}

/// Events sent to this client alone are lost, unless it was the last of its round, which is then sent again.
void MbsClients::remove_refused(const MbsServerClient& client) {
  ++totals_.refused;
  --totals_.clients;
  --valid_;
  if (valid_ != 0) totals_.lost_events += std::min(client.alone_events(), client.counts().events);
  if (reports()) log::info("{}client {} {}", settings_.name, client.name(), to_text(client.end()));
}

/// The amount unread is unknown: the data are in the client's system.
void MbsClients::note_unread(const MbsServerClient& client) {
  const auto events = std::min(client.alone_events(), client.counts().events);
  if (settings_.drops || events == 0) return;
  ++totals_.unread;
  log::warn("{}client {} has left data unread: of {} events that were sent to it alone, some may be lost",
            settings_.name, client.name(), events);
}

void MbsClients::forget(const MbsServerClient& client) {
  ++(client.end() == MbsClientEnd::refused ? totals_.refused : totals_.never);
  if (!reports()) return;
  log::info("{}the connection from {} is not a client: it {}", settings_.name, client.name(),
            client.end() == MbsClientEnd::refused ? "sent an invalid MBS request" : "was closed before any data");
}

MbsClientsTotals MbsClients::totals() const {
  auto all = totals_;
  for (const auto& client : clients_) {
    if (client.is_admitted()) all.sent.add(client.counts());
  }
  return all;
}

void MbsClients::wait(std::int64_t ns, int wake_fd) {
  std::vector<pollfd> polled;
  for (const auto& client : clients_) {
    const int events = (client.reads() ? POLLIN : 0) | (client.writes() ? POLLOUT : 0);
    polled.push_back({.fd = client.fd(), .events = static_cast<short>(events), .revents = 0});
  }
  const bool listens = listener_.fd() >= 0 && steady_ns() >= listen_again_at_;
  polled.push_back({.fd = listens ? listener_.fd() : -1, .events = POLLIN, .revents = 0});
  polled.push_back({.fd = wake_fd, .events = POLLIN, .revents = 0});
  if (std::ranges::any_of(clients_, &MbsServerClient::is_on_trial)) ns = std::min(ns, settings_.silence.count() / 4);
  const timespec timeout{.tv_sec = ns / kOneSecond, .tv_nsec = ns % kOneSecond};
  if (::ppoll(polled.data(), polled.size(), &timeout, nullptr) <= 0) return;
  const auto now = steady_ns();
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    if ((polled[i].revents & POLLIN) != 0) {
      clients_[i].receive(now);
    } else if ((polled[i].revents & (POLLHUP | POLLERR)) != 0) {
      clients_[i].hang_up((polled[i].revents & POLLERR) != 0);
    }
  }
  if (polled[polled.size() - 2].revents != 0) accept_all();
}

}  // namespace eventloom
