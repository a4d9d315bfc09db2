#include "core/control/clock_sync.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>

namespace eventloom {

namespace {

/// Time between synchronise() and the first batch. While a rate is unknown the precision degrades every ms; later a
/// model is good for about as long as it has been observed.
constexpr std::int64_t kFirstGap = 1'000'000;
/// How often rank 0 looks for due batches: it has many peers and is called often.
constexpr std::int64_t kLook = 100'000;

}  // namespace

ClockSync::ClockSync(std::unique_ptr<MessageChannel> channel, int rank, int size, Settings settings, Clock clock)
    : channel_(std::move(channel)),
      rank_(rank),
      ranks_(size),
      settings_(std::move(settings)),
      clock_(std::move(clock)) {
  if (leads()) {
    peers_.resize(static_cast<std::size_t>(ranks_));
    peers_[0].quality = {};
    find_worst();
  } else {
    quality_ = ClockFit().quality(0);
    worst_.precision_ns = quality_.precision_ns;
  }
}

void ClockSync::synchronise(IdlePolicy& idle) {
  if (!leads()) return follow(idle);
  finish_batches(idle);
  for (int rank = 1; rank < ranks_; ++rank) {
    start_batch(rank, settings_.round_trips);
    work_until(idle, [&] { return !peer(rank).asked; });
  }
  // Only now is it known how long the first ranks had to wait for the last.
  const std::int64_t now = clock_();
  for (int rank = 1; rank < ranks_; ++rank) plan(peer(rank), now);
  find_worst();
  for (int rank = 1; rank < ranks_; ++rank) send_fit(rank);
  report_done();
}

std::size_t ClockSync::do_work(std::int64_t now) {
  if (stopped_ || ranks_ == 1) return 0;
  if (leads()) start_due_batches(now);
  channel_->progress();
  return handle_messages();
}

// Done is the last message of rank 0, sent once it has received all answers.
void ClockSync::stop(IdlePolicy& idle) {
  if (std::exchange(stopped_, true)) return;
  if (!leads()) return follow(idle);
  finish_batches(idle);
  report_done();
}

// Two models that are right within their precision bound everything in between, so standing still is right, too.
std::int64_t ClockSync::global_ns() {
  latest_ = std::max(latest_, to_master(model_, clock_()));
  return latest_;
}

double ClockSync::precision_ns() const {
  const std::int64_t now = std::max(to_master(model_, clock_()), worst_.until);
  return worst_.precision_ns + worst_.rate_error_ppm * 1e-6 * static_cast<double>(now - worst_.until);
}

std::vector<ClockQuality> ClockSync::qualities() const {
  std::vector<ClockQuality> all;
  for (const auto& peer : peers_) all.push_back(peer.quality);
  return all;
}

void ClockSync::send(int to, const ClockMessage& message) { channel_->send(to, std::as_bytes(std::span(&message, 1))); }

std::size_t ClockSync::handle_messages() {
  std::size_t handled = 0;
  while (const auto from = channel_->receive(buffer_)) {
    const std::int64_t received = clock_();
    if (buffer_.size() != sizeof(ClockMessage)) throw std::runtime_error("clock message of the wrong size");
    ClockMessage message;
    std::memcpy(&message, buffer_.data(), sizeof message);
    handle(*from, message, received);
    ++handled;
  }
  return handled;
}

void ClockSync::handle(int from, const ClockMessage& message, std::int64_t received) {
  switch (message.kind) {
    case ClockMessage::kAsk: return send(from, {.kind = ClockMessage::kAnswer, .time = received});
    case ClockMessage::kAnswer: return take_answer(from, message.time, received);
    case ClockMessage::kModel:
      if (quality_.round_trips == 0) latest_ = std::numeric_limits<std::int64_t>::min();
      model_ = message.model;
      quality_ = message.quality;
      worst_ = message.worst;
      return;
    case ClockMessage::kDone: ++done_; return;
  }
}

template <typename Condition>
void ClockSync::work_until(IdlePolicy& idle, Condition condition) {
  while (!condition()) {
    if (handle_messages() != 0) {
      idle.reset();
    } else {
      channel_->progress();
      idle.wait();
    }
  }
}

void ClockSync::start_batch(int rank, int round_trips) {
  auto& to = peer(rank);
  to.left = round_trips;
  to.begun = clock_();
  if (!to.first) to.first = to.begun;
  ask(rank);
}

void ClockSync::start_due_batches(std::int64_t now) {
  if (now < next_look_) return;
  next_look_ = now + kLook;
  for (int rank = 1; rank < ranks_; ++rank) {
    if (!peer(rank).asked && now >= peer(rank).next) start_batch(rank, settings_.batch_round_trips);
  }
}

void ClockSync::ask(int rank) {
  auto& to = peer(rank);
  --to.left;
  to.asked = true;
  to.sent = clock_();
  send(rank, {.kind = ClockMessage::kAsk});
}

void ClockSync::take_answer(int rank, std::int64_t remote, std::int64_t received) {
  auto& from = peer(rank);
  if (!std::exchange(from.asked, false)) throw std::runtime_error("clock answer without a request");
  const RoundTrip trip{from.sent, remote, received};
  from.fit.add(trip);
  if (settings_.heard) settings_.heard(rank, trip);
  if (from.left > 0 && received - from.begun < settings_.longest_batch_ns) return ask(rank);
  from.fit.end_batch();
  from.took = received - from.begun;
  plan(from, received);
  find_worst();
  send_fit(rank);
}

void ClockSync::plan(Peer& peer, std::int64_t now) {
  const std::int64_t gap = std::min(std::max(now - *peer.first, kFirstGap), settings_.interval_ns);
  peer.next = now + gap;
  peer.until = peer.next + 2 * peer.took;
  peer.quality = peer.fit.quality(peer.until);
}

void ClockSync::find_worst() {
  worst_ = {0, 0, std::numeric_limits<std::int64_t>::max()};
  for (int rank = 1; rank < ranks_; ++rank) {
    const auto& of = peer(rank);
    worst_.precision_ns = std::max(worst_.precision_ns, of.quality.precision_ns);
    worst_.rate_error_ppm = std::max(worst_.rate_error_ppm, of.quality.rate_error_ppm);
    worst_.until = std::min(worst_.until, of.until);
  }
}

void ClockSync::send_fit(int rank) {
  const auto& to = peer(rank);
  send(rank, {.kind = ClockMessage::kModel, .model = to.fit.model(), .quality = to.quality, .worst = worst_});
}

// Batches end with the answers received so far; each rank owes at most one more.
void ClockSync::finish_batches(IdlePolicy& idle) {
  for (auto& peer : peers_) peer.left = 0;
  work_until(idle, [&] { return std::ranges::none_of(peers_, &Peer::asked); });
}

void ClockSync::report_done() {
  for (int rank = 1; rank < ranks_; ++rank) send(rank, {.kind = ClockMessage::kDone});
}

// Rank 0 may be here long before this rank, so do_work() may have received the message already.
void ClockSync::follow(IdlePolicy& idle) {
  work_until(idle, [&] { return done_ > 0; });
  --done_;
}

}  // namespace eventloom
