#include "core/simulation/port.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/simulation/platform.hpp"

namespace eventloom {

namespace {

namespace s4u = simgrid::s4u;

/// Puts below this size are notifications and credits.
constexpr std::uint64_t kSmallestFlow = 1024;
/// Resolution of SimGrid's times.
constexpr double kInstant = 1e-9;
/// Idle ranks still take turns, since heartbeats are sent by the clock.
constexpr double kLongestNap = 2e-3;
constexpr std::size_t kWritesKept = 1024;

void add(std::array<double, kSpentNames.size()>& spent, Spent on, double seconds) {
  spent[static_cast<std::size_t>(on)] += seconds;
}

}  // namespace

Port::Port(Fabric& fabric, int rank, std::uint32_t node, s4u::Host* host, std::uint64_t seed)
    : fabric_(fabric), rank_(rank), node_(node), host_(host), bell_(s4u::Semaphore::create(0)), random_(seed) {}

std::size_t Port::open_window(std::uint64_t bytes) {
  auto& window = windows_.emplace_back();
  window.memory = std::make_unique<SparseMemory>(bytes, SparseMemory::Access::write);
  return windows_.size() - 1;
}

std::span<std::byte> Port::window(std::size_t number) {
  take_arrivals();
  return windows_[number].memory->bytes();
}

std::optional<std::span<const std::uint64_t>> Port::written_since(std::size_t number, std::uint64_t& mark) {
  take_arrivals();
  auto& window = windows_[number];
  const auto from = std::exchange(mark, window.forgotten + window.written.size());
  if (from < window.forgotten) return std::nullopt;
  return std::span(window.written).subspan(from - window.forgotten);
}

Port::Way& Port::way_to(Place place) {
  if (ways_.size() <= place.window) ways_.resize(place.window + 1);
  auto& ways = ways_[place.window];
  if (ways.empty()) ways.resize(fabric_.ports.size());
  auto& way = ways[static_cast<std::size_t>(place.rank)];
  if (way.latency >= 0) return way;
  way.latency = 0;
  if (is_near(place.rank)) return way;
  const auto route = route_between(*host_, *port(place.rank).host_);
  way.latency = route.latency;
  way.per_byte = 1 / route.rate;
  return way;
}

void Port::put(std::size_t window, int to, std::uint64_t offset, std::span<const std::byte> data) {
  const bool blank = fabric_.blank.contains(data);
  if (!blank && (is_near(to) || data.size() < kSmallestFlow)) {
    return put_small({window, to}, offset, data, fabric_.streams);
  }
  if (is_near(to)) return;
  Arrival arrival{now(), 0, std::nullopt, window, offset, {}};
  if (!blank) arrival.bytes.assign(data.begin(), data.end());
  put_data({window, to}, std::move(arrival), data.size());
}

void Port::put_notice(std::size_t window, int to, std::uint64_t offset, std::span<const std::byte> data) {
  put_small({window, to}, offset, data, true);
}

void Port::put_small(Place to, std::uint64_t offset, std::span<const std::byte> data, bool after_data) {
  Arrival arrival{now(), 0, std::nullopt, to.window, offset, {data.begin(), data.end()}};
  if (is_near(to.rank)) return port(to.rank).arrive(std::move(arrival));
  auto& way = way_to(to);
  if (after_data && !way.flows.empty()) {
    way.flows.back().contents.push_back(std::move(arrival));
    return;
  }
  arrival.time += way.latency + static_cast<double>(data.size()) * way.per_byte;
  way.complete = std::max(way.complete, arrival.time + way.latency);
  port(to.rank).arrive(std::move(arrival));
}

/// Adds to the flow that has not begun, unless its contents differ in kind: a note need not wait for data put after it.
void Port::put_data(Place to, Arrival arrival, std::uint64_t bytes) {
  auto& way = way_to(to);
  const bool blank = arrival.bytes.empty();
  if (way.flows.empty() || way.flows.back().closed || way.flows.back().blank != blank) {
    if (!way.flows.empty()) way.flows.back().closed = true;
    way.flows.push_back({now(), 0, {}, blank, false});
    to_begin_.push_back(to);
  }
  way.flows.back().bytes += bytes;
  if (!blank) way.flows.back().contents.push_back(std::move(arrival));
}

/// Begins the flows of everything put before time advances.
void Port::begin_flows() {
  for (const auto to : to_begin_) {
    auto& way = way_to(to);
    way.flows.back().closed = true;
    if (std::exchange(way.carried, true)) continue;
    move(to);
  }
  to_begin_.clear();
}

/// Moves the first flow to a rank; the others follow.
void Port::move(Place to) {
  auto& way = way_to(to);
  const auto bytes = static_cast<double>(way.flows.front().bytes);
  fabric_.flows.start({node_, port(to.rank).node_, bytes, way.latency, [this, to] { arrived(to); }});
}

void Port::arrived(Place to) {
  auto& way = way_to(to);
  auto flow = std::move(way.flows.front());
  way.flows.pop_front();
  finish(to, std::move(flow));
  way.carried = !way.flows.empty();
  if (way.carried) move(to);
}

/// Called when the last byte of the flow has arrived.
void Port::finish(Place to, Flow flow) {
  fabric_.log.push_back({rank_, to.rank, flow.begin, now(), flow.bytes});
  auto& way = way_to(to);
  way.arrived = now();
  for (auto& arrival : flow.contents) {
    arrival.time = now();
    port(to.rank).arrive(std::move(arrival));
  }
  ++way.finished;
  ring();
  port(to.rank).ring();
}

/// Like MPI_Win_flush, returns one latency after the last byte has arrived, when this rank can know it.
void Port::flush(std::size_t window, int to) {
  const double begun = now();
  begin_flows();
  auto& way = way_to({window, to});
  wait_for(way);
  // Over a stream, the acknowledgement comes after what the other rank had sent before it.
  if (fabric_.streams && now() < way.arrived + way.latency) wait_for(port(to).way_to({window, rank_}));
  sleep_until(std::max({way.complete, way.arrived + way.latency, fabric_.streams ? now() : 0}));
  add(spent_, Spent::network, now() - begun);
}

/// Waits until all flows now in flight have arrived.
void Port::wait_for(const Way& way) {
  const auto until = way.finished + way.flows.size();
  while (way.finished < until) {
    waits_for_flow_ = true;
    bell_->acquire();
  }
}

void Port::ring() {
  if (std::exchange(waits_for_flow_, false)) bell_->release();
}

std::size_t Port::open_channel() {
  mail_.emplace_back();
  last_mail_.emplace_back();
  return mail_.size() - 1;
}

/// Messages between two ranks do not overtake each other.
void Port::send(std::size_t channel, int to, std::span<const std::byte> message) {
  const auto& way = way_to({0, to});
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
      write(windows_[arrival.number], arrival);
    }
    arrivals_.pop_back();
  }
}

void Port::write(Window& window, const Arrival& arrival) {
  const auto to = window.memory->bytes().subspan(arrival.offset, arrival.bytes.size());
  std::memcpy(to.data(), arrival.bytes.data(), arrival.bytes.size());
  if (window.written.size() == kWritesKept) {
    window.forgotten += window.written.size();
    window.written.clear();
  }
  window.written.push_back(arrival.offset);
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
