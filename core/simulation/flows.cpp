#include "core/simulation/flows.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace eventloom {

namespace {

namespace s4u = simgrid::s4u;

/// Closer times are considered equal.
constexpr double kSameTime = 1e-9;
constexpr double kNever = std::numeric_limits<double>::infinity();

double now() { return s4u::Engine::get_clock(); }

template <class Heap>
auto pop(Heap& heap) {
  std::ranges::pop_heap(heap, std::greater{});
  auto first = heap.back();
  heap.pop_back();
  return first;
}

}  // namespace

Flows::Flows(const FabricRoutes& routes, double interval)
    : routes_(routes), interval_(interval), bell_(s4u::Semaphore::create(0)), shares_(routes), shared_at_(-interval) {}

void Flows::start(Cargo cargo) {
  const double time = now() + cargo.latency;
  const double bytes = cargo.bytes;
  if (free_places_.empty()) {
    free_places_.push_back(waiting_.size());
    waiting_.emplace_back();
  }
  const auto place = free_places_.back();
  free_places_.pop_back();
  waiting_[place] = {std::move(cargo), n_started_++, bytes, 0, 0, false};
  begins_.push_back({time, waiting_[place].number, place});
  std::ranges::push_heap(begins_, std::greater{});
  if (wakes_at_ <= time) return;
  wakes_at_ = -1;
  bell_->release();
}

void Flows::run() {
  for (;;) {
    end_flows();
    begin_flows();
    if (changed_ && now() + kSameTime >= shared_at_ + interval_) share_links();
    wait();
  }
}

void Flows::end_flows() {
  while (!ends_.empty() && ends_.front().time <= now() + kSameTime) {
    const auto number = pop(ends_).what;
    moving_[number].arrived = changed_ = true;
    shares_.release(number);
    moving_[number].cargo.arrived();
  }
}

void Flows::begin_flows() {
  while (!begins_.empty() && begins_.front().time <= now() + kSameTime) {
    const auto place = pop(begins_).what;
    moving_.push_back(std::move(waiting_[place]));
    free_places_.push_back(place);
    const auto& cargo = moving_.back().cargo;
    set_rate(moving_.size() - 1,
             shares_.add(routes_.route(cargo.from, cargo.to), cargo.latency > 0 ? 1 / cargo.latency : 1));
    std::ranges::push_heap(ends_, std::greater{});
    changed_ = true;
  }
}

/// Appends the flow's end to ends_, without restoring the heap.
void Flows::set_rate(std::size_t flow, double rate) {
  auto& moving = moving_[flow];
  moving.left = std::max(moving.left - moving.rate * (now() - moving.since), 0.0);
  moving.since = now();
  moving.rate = rate;
  ends_.push_back({rate > 0 ? now() + moving.left / rate : kNever, moving.number, flow});
}

void Flows::share_links() {
  shared_at_ = now();
  changed_ = false;
  remove_arrived();
  const auto rates = shares_.share();
  ends_.clear();
  for (std::size_t f = 0; f < moving_.size(); ++f) set_rate(f, rates[f]);
  std::ranges::make_heap(ends_, std::greater{});
}

void Flows::remove_arrived() {
  for (std::size_t f = 0; f < moving_.size();) {
    if (!moving_[f].arrived) {
      ++f;
      continue;
    }
    shares_.remove(f);
    if (f + 1 != moving_.size()) moving_[f] = std::move(moving_.back());
    moving_.pop_back();
  }
}

/// Waits until something is due, or something due earlier is started.
void Flows::wait() {
  wakes_at_ = kNever;
  if (changed_) wakes_at_ = shared_at_ + interval_;
  if (!ends_.empty()) wakes_at_ = std::min(wakes_at_, ends_.front().time);
  if (!begins_.empty()) wakes_at_ = std::min(wakes_at_, begins_.front().time);
  if (wakes_at_ == kNever) {
    bell_->acquire();
  } else if (wakes_at_ > now() + kSameTime) {
    bell_->acquire_timeout(wakes_at_ - now());
  }
  wakes_at_ = -1;
}

}  // namespace eventloom
