#include "io/serve/mbs_server.hpp"

#include <algorithm>

#include "core/runtime/clock.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/stop_signal.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kShownEvents = 10;
constexpr int kGroupsPerTurn = 8;  ///< groups packed before the clients are served
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kLongestPoll = kSecond / 4;  ///< signals are checked this often
constexpr std::int64_t kStopNs = 2 * kSecond;       ///< time for clients to take the rest of the buffers begun

}  // namespace

MbsServer::MbsServer(const MbsServerSettings& settings, MbsRecording& recording)
    : settings_(settings),
      recording_(recording),
      clients_(settings.clients, settings.layout),
      packer_(settings.layout),
      pacer_(settings.pace) {}

void MbsServer::run() {
  while (true) {
    now_ = steady_ns();
    if (stop_signal() != 0 && !stopping_) stop();
    advance();
    clients_.serve(now_);
    if (phase_ == Phase::done) return;
    clients_.wait(wait_ns());
  }
}

// ---------------------------------------------------------------- phases

void MbsServer::advance() {
  const bool sends = phase_ == Phase::sending || phase_ == Phase::ending;
  if (sends && !stopping_ && clients_.empty() && clients_.round_is_void()) restart();
  if (phase_ == Phase::waiting && clients_.size() >= settings_.clients_to_start) begin();
  if (phase_ == Phase::sending) produce();
  if (phase_ == Phase::ending) end_round();
}

void MbsServer::begin() {
  phase_ = Phase::sending;
  totals_before_ = totals_;
  clients_.begin_round();
  pacer_.start(now_);
  delivered_at_ = now_;
  at_end_ = false;
  due_.reset();
  alone_since_.reset();
}

void MbsServer::end_sending() {
  phase_ = Phase::ending;
  totals_.time_jumps = pacer_.time_jumps();
  clients_.finish();
}

/// Ends the round once all of its clients are gone.
void MbsServer::end_round() {
  if (stopping_ && now_ > stop_by_) clients_.drop_all();
  if (clients_.any_is_finishing()) return;
  if (!stopping_) clients_.end_round();
  if (settings_.once || stopping_) {
    phase_ = Phase::done;
    return;
  }
  restart();
}

void MbsServer::restart() {
  if (clients_.round_is_void()) totals_ = totals_before_;
  clients_.forget_round();
  recording_.rewind();
  packer_ = MbsPacker(settings_.layout);
  phase_ = Phase::waiting;
}

void MbsServer::stop() {
  stopping_ = true;
  stop_by_ = now_ + kStopNs;
  log::info("{}: stopping; clients get the rest of the buffers begun", signal_name(stop_signal()));
  clients_.stop_listening();
  clients_.cut();
  phase_ = Phase::ending;
}

// ---------------------------------------------------------------- packing

bool MbsServer::may_produce() const {
  if (clients_.empty()) return false;
  if (!settings_.clients.by_request) return clients_.all_have_room();
  return !settings_.pace.flat_out() || clients_.any_is_waiting();
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

/// Returns null when no group is full or due.
MbsGroupPtr MbsServer::next_group() {
  while (next_event()) {
    if (*due_ > now_) now_ = steady_ns();
    if (*due_ > now_) return overdue();
    if (auto full = pack()) return full;
  }
  return packer_.flush();
}

/// Advances to the next event to pack; returns false at the end.
bool MbsServer::next_event() {
  if (due_) return true;
  if (at_end_ || !recording_.next()) {
    at_end_ = true;
    return false;
  }
  due_ = settings_.pace.flat_out() ? now_ : pacer_.due(settings_.pace.speed > 0 ? recording_.time() : std::nullopt);
  return true;
}

/// Packs the event. Returns the group that it no longer fitted, if any.
MbsGroupPtr MbsServer::pack() {
  due_.reset();
  const auto& event = recording_.event();
  const std::uint64_t bytes = event.bytes();
  if (!packer_.can_hold(bytes)) {
    if (++totals_.too_large <= kShownEvents) {
      log::error("event {} of {} bytes is dropped: buffers hold events of {} bytes; use a larger --buffer-size{}",
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

/// Called when no event is due. Returns events that have waited long enough, or a keep-alive.
MbsGroupPtr MbsServer::overdue() {
  if (packer_.has_begun()) return now_ - begun_at_ >= settings_.flush_after.count() ? packer_.flush() : nullptr;
  const bool silent = now_ - delivered_at_ >= settings_.keep_alive.count();
  return settings_.layout.native && silent && clients_.all_are_empty() ? packer_.keep_alive() : nullptr;
}

void MbsServer::deliver(const MbsGroupPtr& group) {
  totals_.buffers += group->buffers;
  delivered_at_ = now_;
  clients_.deliver(group);
}

/// Time until there is something to do, unless a client acts first.
std::int64_t MbsServer::wait_ns() const {
  if (phase_ == Phase::waiting && clients_.size() >= settings_.clients_to_start) return 0;
  if (phase_ == Phase::ending && clients_.empty()) return 0;
  if (phase_ != Phase::sending || !may_produce()) return kLongestPoll;
  if (!due_) return 0;
  auto until = *due_;
  if (packer_.has_begun()) until = std::min(until, begun_at_ + settings_.flush_after.count());
  return std::clamp(until - now_, std::int64_t{0}, kLongestPoll);
}

}  // namespace eventloom
