#include "app/tools/send/live_sender.hpp"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/runtime/clock.hpp"

namespace eventloom {

namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr Epoch kLastEpoch = std::numeric_limits<Epoch>::max();
constexpr double kAhead = 1e6;  ///< ns by which streams are read ahead
constexpr double kStep = 1e6;   ///< maximum ns of data sent per turn
constexpr double kStepEpochs = 32;
constexpr std::int64_t kLongestSleep = 50'000'000;  ///< ns, the maximum delay until a signal is noticed
constexpr std::int64_t kAnswerSleep = 1'000'000;    ///< ns, the same for a request
constexpr std::int64_t kShortestKeepUp = 50'000;    ///< ns
constexpr std::int64_t kBetweenEnds = 200'000'000;  ///< ns
constexpr std::int64_t kBurst = 1'000'000;          ///< ns of the bandwidth sent at once
constexpr std::int64_t kCredit = 5'000'000;         ///< ns of unused bandwidth that may be made up

void sleep_until(std::int64_t steady) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec time{.tv_sec = steady / kSecond, .tv_nsec = steady % kSecond};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);  // steady_ns() uses the same clock
}

std::int64_t unix_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

Epoch epoch_at(double data_time, double epoch_ns) {
  const double epoch = std::floor(data_time / epoch_ns);
  return epoch < 0x1p63 ? static_cast<Epoch>(std::max(epoch, 0.0)) : kLastEpoch;
}

}  // namespace

LiveSender::LiveSender(LiveSenderSettings settings, std::vector<std::unique_ptr<PacedStream>> streams)
    : settings_(std::move(settings)) {
  for (auto& stream : streams) {
    const auto& base = stream->header().base;
    lanes_.push_back({.stream = std::move(stream),
                      .epoch_ns = static_cast<double>(base.epoch_ticks) * static_cast<double>(base.tick_ps) / 1000});
    auto& lane = lanes_.back();
    lane.sent.name = lane.stream->name();
    lane.sent.to = settings_.to[lanes_.size() - 1];
  }
  start_clock();
  const std::int64_t unix_start = unix_ns();
  for (auto& lane : lanes_) open(lane, unix_start);
}

/// Starts the clock only after the first buffers have been fetched, which may take long.
void LiveSender::start_clock() {
  origin_ = kForever;
  step_ = kStep;
  for (auto& lane : lanes_) {
    step_ = std::min(step_, kStepEpochs * lane.epoch_ns);
    if (const auto begin = lane.stream->begin()) {
      origin_ = std::min(origin_, static_cast<double>(*begin) * lane.epoch_ns);
    }
  }
  if (origin_ == kForever) origin_ = 0;
  reached_ = origin_;
  start_ = steady_ns();
}

void LiveSender::open(Lane& lane, std::int64_t unix_start) {
  const auto& header = lane.stream->header();
  const bool real = settings_.speed == 1 && (header.flags & kNumbered) == 0 && origin_ < 0x1p62;
  const std::int64_t started = real ? unix_start - static_cast<std::int64_t>(origin_) : 0;
  const DatagramSender::Settings settings{lane.sent.to, settings_.datagram_bytes, settings_.session,
                                          started,      settings_.flush_after_ns, settings_.resend_bytes};
  lane.sender = std::make_unique<DatagramSender>(settings, header);
}

double LiveSender::data_time(std::int64_t now) const {
  return settings_.speed == 0 ? kForever : origin_ + static_cast<double>(now - start_) * settings_.speed;
}

std::int64_t LiveSender::steady_time(double data_time) const {
  const double passed = (data_time - origin_) / settings_.speed;
  return passed < 0x1p62 ? start_ + static_cast<std::int64_t>(passed) : std::numeric_limits<std::int64_t>::max();
}

std::vector<SentStream> LiveSender::run(const std::function<bool()>& stopped) {
  prctl(PR_SET_TIMERSLACK, 1UL);
  while (!all_ended()) {
    if (!stopping_ && stopped()) {
      stopping_ = true;
      for (auto& lane : lanes_) lane.stream->stop();
    }
    const std::int64_t now = steady_ns();
    const std::int64_t wake = turn(now);
    if (wake > now) sleep_until(std::min(wake, now + longest_sleep()));
  }
  std::vector<SentStream> sent;
  for (auto& lane : lanes_) {
    lane.sent.count = lane.sender->count();
    sent.push_back(std::move(lane.sent));
  }
  return sent;
}

bool LiveSender::all_ended() const {
  const std::int64_t now = steady_ns();
  return std::ranges::all_of(lanes_, [&](const Lane& lane) {
    return lane.ends == DatagramSender::kEnds && !lane.sender->expects_requests(now);
  });
}

std::int64_t LiveSender::longest_sleep() const { return settings_.resend_bytes == 0 ? kLongestSleep : kAnswerSleep; }

/// Returns the data time at which the next buffer of any stream is due.
std::optional<double> LiveSender::first_due(double clock) {
  const double horizon = std::min(clock, reached_ + step_) + kAhead;
  std::optional<double> first;
  asks_ahead_ = false;
  for (auto& lane : lanes_) {
    const auto* buffer = lane.stream->peek(epoch_at(clock == kForever ? clock : horizon, lane.epoch_ns));
    if (buffer != nullptr) {
      const double due = static_cast<double>(buffer->due) * lane.epoch_ns;
      first = std::min(first.value_or(due), due);
    } else if (!lane.stream->ended()) {
      asks_ahead_ = true;
    }
  }
  return first;
}

/// Advances the data time with the clock, but not far beyond data still to be sent.
void LiveSender::reach(double clock, std::optional<double> first) {
  const double next = first ? *first : reached_;
  const double most = next + step_;
  if (first || clock < kForever) reached_ = std::max(reached_, std::min(clock, most));
}

std::int64_t LiveSender::turn(std::int64_t now) {
  const double clock = stopping_ ? kForever : data_time(now);
  const auto first = first_due(clock);
  reach(clock, first);
  const bool any_due = first && *first <= reached_;
  if (any_due) {
    for (auto& lane : lanes_) send_due(lane);
  }
  answer(now);
  flush();
  if (now >= next_keep_up_ || !any_due) keep_up(now);
  const bool is_late = clock < kForever && reached_ < clock;
  if (any_due && must_wait()) return std::min(next_keep_up_, next_byte_);
  if (any_due || is_late) return now;
  std::int64_t wake = next_keep_up_;
  if (first) wake = std::min(wake, steady_time(*first));
  if (asks_ahead_) wake = std::min(wake, steady_time(reached_ + kAhead));
  return wake;
}

void LiveSender::send_due(Lane& lane) {
  const Epoch until = epoch_at(reached_, lane.epoch_ns);
  for (const auto* buffer = lane.stream->peek(until); buffer != nullptr && buffer->due <= until && !must_wait();
       buffer = lane.stream->peek(until)) {
    send_one(lane, *buffer);
    lane.stream->pop();
  }
}

void LiveSender::send_one(Lane& lane, const PacedBuffer& buffer) {
  const std::int64_t now = steady_ns();
  const std::uint64_t bytes = lane.sender->count().bytes;
  lane.sender->send(buffer.stored, now);
  if (settings_.speed > 0) {
    const std::int64_t due = steady_time(static_cast<double>(buffer.due) * lane.epoch_ns);
    lane.sent.behind_ns = std::max(lane.sent.behind_ns, now - due);
  }
  if (settings_.bandwidth != 0) note_sent(lane.sender->count().bytes - bytes);
}

void LiveSender::note_sent(std::uint64_t bytes) {
  next_byte_ = std::max(next_byte_, steady_ns() - kCredit) +
               static_cast<std::int64_t>(1e9 * static_cast<double>(bytes) / static_cast<double>(settings_.bandwidth));
}

bool LiveSender::must_wait() const { return settings_.bandwidth != 0 && steady_ns() + kBurst < next_byte_; }

void LiveSender::keep_up(std::int64_t now) {
  next_keep_up_ = now + std::max(settings_.flush_after_ns / 2, kShortestKeepUp);
  for (auto& lane : lanes_) {
    if (lane.stream->ended()) {
      end(lane, now);
    } else {
      lane.sender->keep_up(lane.stream->complete(epoch_at(reached_, lane.epoch_ns)), now);
    }
  }
  flush();
}

void LiveSender::end(Lane& lane, std::int64_t now) {
  if (lane.ends == DatagramSender::kEnds || now < lane.next_end) return;
  if (lane.ends == 0) lane.sent.seconds = static_cast<double>(now - start_) / 1e9;
  lane.sender->end(*lane.stream->ended(), now);
  lane.next_end = now + kBetweenEnds;
  ++lane.ends;
}

void LiveSender::answer(std::int64_t now) {
  for (auto& lane : lanes_) {
    const std::uint64_t bytes = lane.sender->count().bytes;
    lane.sender->answer(now);
    if (settings_.bandwidth != 0) note_sent(lane.sender->count().bytes - bytes);
  }
}

void LiveSender::flush() {
  for (auto& lane : lanes_) lane.sender->flush();
}

}  // namespace eventloom
