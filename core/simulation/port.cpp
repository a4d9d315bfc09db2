#include "core/simulation/port.hpp"

#include <algorithm>
#include <cstring>

#include "core/simulation/platform.hpp"

namespace eventloom {

namespace {

namespace s4u = simgrid::s4u;

/// Puts below this size are notifications and credits.
constexpr std::uint64_t kSmallestFlow = 1024;
/// SimGrid does not tell shorter times apart.
constexpr double kInstant = 1e-9;
/// An idle rank still takes turns, as heartbeats are sent by the clock.
constexpr double kLongestNap = 2e-3;

void add(std::array<double, kSpentNames.size()>& spent, Spent on, double seconds) {
  spent[static_cast<std::size_t>(on)] += seconds;
}

}  // namespace

Port::Port(Fabric& fabric, int rank, s4u::Host* host, std::uint64_t seed)
    : fabric_(fabric), rank_(rank), host_(host), bell_(s4u::Semaphore::create(0)), random_(seed) {}

std::size_t Port::open_window(std::uint64_t bytes) {
  windows_.push_back(std::make_unique<SparseMemory>(bytes, SparseMemory::Access::write));
  return windows_.size() - 1;
}

std::span<std::byte> Port::window(std::size_t number) {
  take_arrivals();
  return windows_[number]->bytes();
}

Port::Way& Port::way_to(int rank) {
  if (ways_.empty()) ways_.resize(fabric_.ports.size());
  auto& way = ways_[static_cast<std::size_t>(rank)];
  if (way.latency >= 0) return way;
  way.latency = 0;
  if (port(rank).host_ == host_) return way;
  const auto route = route_between(*host_, *port(rank).host_);
  way = {route.latency, 1 / route.rate};
  return way;
}

void Port::put(std::size_t window, int to, std::uint64_t offset, std::span<const std::byte> data) {
  const bool blank = fabric_.blank.contains(data);
  const bool same_node = port(to).host_ == host_;
  if (blank && same_node) return;
  Arrival arrival{now(), 0, std::nullopt, window, offset, {}};
  if (!blank) arrival.bytes.assign(data.begin(), data.end());
  if (same_node) return port(to).arrive(std::move(arrival));
  if (!blank && data.size() < kSmallestFlow) {
    if (auto* flow = data_before(to)) {
      flow->contents.push_back(std::move(arrival));
      return;
    }
    auto& way = way_to(to);
    arrival.time += way.latency + static_cast<double>(data.size()) * way.per_byte;
    way.complete = std::max(way.complete, arrival.time + way.latency);
    return port(to).arrive(std::move(arrival));
  }
  auto& flow = flow_to(to);
  flow.bytes += data.size();
  if (!blank) flow.contents.push_back(std::move(arrival));
}

/// The data to a rank for which something small must wait, if there are any.
Port::Flow* Port::data_before(int to) {
  if (!fabric_.streams) return nullptr;
  const auto last = std::find_if(flows_.rbegin(), flows_.rend(), [=](const Flow& flow) {
    return flow.to == to && (!flow.comm || flow.comm->get_state() != s4u::Activity::State::FINISHED);
  });
  return last == flows_.rend() ? nullptr : &*last;
}

/// The flow to a rank that has not begun yet.
Port::Flow& Port::flow_to(int rank) {
  const auto found = std::ranges::find_if(flows_, [=](const Flow& flow) { return !flow.comm && flow.to == rank; });
  if (found != flows_.end()) return *found;
  return flows_.emplace_back(Flow{rank, now(), 0, {}, nullptr});
}

/// All that was put before time goes on.
void Port::begin_flows() {
  for (auto& flow : flows_) {
    if (!flow.comm) flow.comm = s4u::Comm::sendto_async(host_, port(flow.to).host_, flow.bytes);
  }
}

/// As MPI_Win_flush, returns one latency after the last byte has arrived: this rank must hear of it.
void Port::flush(int to) {
  const double begun = now();
  begin_flows();
  double arrived = begun;
  for (auto& flow : flows_) {
    if (flow.to == to) arrived = std::max(arrived, complete(flow));
  }
  const bool any = std::erase_if(flows_, [=](const Flow& flow) { return flow.to == to; }) != 0;
  const double until = any ? acknowledged(to, arrived) : begun;
  sleep_until(std::max(until, way_to(to).complete));
  add(spent_, Spent::network, now() - begun);
}

/// When this rank hears that what it sent had arrived at `arrived`.
double Port::acknowledged(int to, double arrived) {
  double until = arrived;
  if (fabric_.streams) {
    std::vector<s4u::CommPtr> before;
    for (const auto& flow : port(to).flows_) {
      if (flow.to == rank_ && flow.comm && flow.begin < arrived) before.push_back(flow.comm);
    }
    for (const auto& comm : before) {
      comm->wait();
      until = std::max(until, comm->get_finish_time());
    }
  }
  return until + way_to(to).latency;
}

/// Returns when its last byte has arrived.
double Port::complete(Flow& flow) {
  flow.comm->wait();
  const double end = flow.comm->get_finish_time();
  fabric_.log.push_back({rank_, flow.to, flow.begin, end, flow.bytes});
  for (auto& arrival : flow.contents) {
    arrival.time = now();
    port(flow.to).arrive(std::move(arrival));
  }
  return end;
}

std::size_t Port::open_channel() {
  mail_.emplace_back();
  last_mail_.emplace_back();
  return mail_.size() - 1;
}

/// None overtakes another on its way between two ranks.
void Port::send(std::size_t channel, int to, std::span<const std::byte> message) {
  const auto& way = way_to(to);
  const double delay = fabric_.noise * static_cast<double>(random_()) / static_cast<double>(std::mt19937_64::max());
  auto& last = last_mail_[channel][to];
  last = std::max(last, now() + way.latency + static_cast<double>(message.size()) * way.per_byte + delay);
  port(to).arrive({last, 0, rank_, channel, 0, {message.begin(), message.end()}});
}

std::optional<int> Port::receive(std::size_t channel, std::vector<std::byte>& out) {
  take_arrivals();
  auto& letters = mail_[channel];
  if (letters.empty()) return std::nullopt;
  const int from = letters.front().first;
  out = std::move(letters.front().second);
  letters.pop_front();
  return from;
}

void Port::arrive(Arrival arrival) {
  arrival.order = n_arrivals_++;
  const double time = arrival.time;
  arrivals_.push_back(std::move(arrival));
  std::ranges::push_heap(arrivals_, Later{});
  if (wakes_at_ <= time) return;
  wakes_at_ = -1;
  bell_->release();
}

bool Port::any_arrived() const { return !arrivals_.empty() && arrivals_.front().time <= now() + kInstant; }

void Port::take_arrivals() {
  while (any_arrived()) {
    std::ranges::pop_heap(arrivals_, Later{});
    auto& arrival = arrivals_.back();
    if (arrival.sender) {
      mail_[arrival.number].emplace_back(*arrival.sender, std::move(arrival.bytes));
    } else {
      const auto to = windows_[arrival.number]->bytes().subspan(arrival.offset, arrival.bytes.size());
      std::memcpy(to.data(), arrival.bytes.data(), arrival.bytes.size());
    }
    arrivals_.pop_back();
  }
}

void Port::wait_until(double time, Spent on) {
  const double begun = now();
  begin_flows();
  const double latest = std::clamp(time, begun + 10 * kInstant, begun + kLongestNap);
  while (!any_arrived() && now() + kInstant < latest) {
    wakes_at_ = arrivals_.empty() ? latest : std::min(latest, arrivals_.front().time);
    bell_->acquire_timeout(std::max(wakes_at_ - now(), kInstant));
    wakes_at_ = -1;
  }
  if (!any_arrived() && on_nothing_) on_nothing_();
  add(spent_, on, now() - begun);
}

void Port::work_for(double seconds, Spent on) {
  if (seconds <= 0) return;
  begin_flows();
  s4u::this_actor::sleep_for(seconds);
  add(spent_, on, seconds);
}

void Port::sleep_until(double time) {
  if (time > now() + kInstant) s4u::this_actor::sleep_until(time);
}

}  // namespace eventloom
