#include "io/mbs/mbs_clients.hpp"

#include <poll.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "core/runtime/clock.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kShownClients = 100;  ///< clients whose connections are reported
constexpr std::int64_t kOneSecond = 1'000'000'000;

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

MbsClients::MbsClients(const MbsClientsSettings& settings, const MbsLayout& layout)
    : settings_(settings),
      listener_(listen_on(settings.address, settings.port, settings.advice)),
      handshake_(make_handshake(layout)) {}

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

void MbsClients::deliver(const MbsGroupPtr& group) {
  for (auto& client : clients_) {
    while (settings_.drops && is_full(client)) client.drop_oldest();
    client.queue(group);
  }
}

void MbsClients::finish() {
  for (auto& client : clients_) client.finish();
}

void MbsClients::cut() {
  for (auto& client : clients_) client.cut();
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
    spdlog::warn("{}cannot accept a client: {}", settings_.name, std::strerror(errno));
    listen_again_at_ = steady_ns() + kOneSecond;
    return;
  }
}

void MbsClients::accept(MbsServerSocket socket, std::string name) {
  const bool shown = ++totals_.connected <= kShownClients;
  if (clients_.size() == settings_.most) {
    ++totals_.refused;
    if (shown) spdlog::info("{}client {} is refused: there are {} already", settings_.name, name, settings_.most);
    return;
  }
  if (shown) spdlog::info("{}client {} has connected", settings_.name, name);
  clients_.emplace_back(std::move(socket), std::move(name), settings_.by_request, handshake_, steady_ns());
}

void MbsClients::serve(std::int64_t now) {
  for (auto& client : clients_) {
    client.send(now);
    client.expire(now, settings_.timeout.count());
    if (client.end() != MbsClientEnd::none) remove(client);
  }
  std::erase_if(clients_, [](const auto& client) { return client.end() != MbsClientEnd::none; });
}

void MbsClients::remove(const MbsServerClient& client) {
  const auto& counts = client.counts();
  totals_.sent.add(counts);
  if (client.end() == MbsClientEnd::timed_out) ++totals_.timed_out;
  if (client.end() == MbsClientEnd::refused) ++totals_.refused;
  if (totals_.connected > kShownClients) return;
  spdlog::info("{}client {} {}: {} events in {} buffers; dropped {} events in {} buffers", settings_.name,
               client.name(), to_text(client.end()), counts.events, counts.buffers, counts.dropped_events,
               counts.dropped_buffers);
}

MbsClientsTotals MbsClients::totals() const {
  auto all = totals_;
  for (const auto& client : clients_) all.sent.add(client.counts());
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
  const timespec timeout{.tv_sec = ns / kOneSecond, .tv_nsec = ns % kOneSecond};
  if (::ppoll(polled.data(), polled.size(), &timeout, nullptr) <= 0) return;
  const auto now = steady_ns();
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    if ((polled[i].revents & POLLIN) != 0) {
      clients_[i].receive(now);
    } else if ((polled[i].revents & (POLLHUP | POLLERR)) != 0) {
      clients_[i].hang_up();
    }
  }
  if (polled[polled.size() - 2].revents != 0) accept_all();
}

}  // namespace eventloom
