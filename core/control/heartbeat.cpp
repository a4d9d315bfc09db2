#include "core/control/heartbeat.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>

#include "core/control/live_votes.hpp"

namespace eventloom {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Time between two rounds: long enough to cost nothing, short enough to end a run without delay.
constexpr auto kShortestInterval = milliseconds(2);
constexpr auto kIntervalPerRank = microseconds(50);
/// Time between two checks for messages while nothing is urgent.
constexpr auto kLookEvery = microseconds(250);

/// Whether the others should learn of `status` immediately.
bool is_news(const RankStatus& status, const RankStatus& reported) {
  return status.request.command != Command::none || status.done != reported.done || status.failed != reported.failed ||
         status.frozen != reported.frozen;
}

template <class Message>
Message message_in(const std::vector<std::byte>& bytes) {
  Message message;
  if (bytes.size() != sizeof message) throw std::runtime_error("heartbeat: a message of the wrong size");
  std::memcpy(&message, bytes.data(), sizeof message);
  return message;
}

}  // namespace

Heartbeat::Heartbeat(std::unique_ptr<MessageChannel> channel, int rank, int size, Duration notice,
                     Duration longest_notice)
    : channel_(std::move(channel)),
      rank_(rank),
      size_(size),
      notice_(notice),
      longest_notice_(longest_notice),
      interval_(std::max<Duration>(kShortestInterval, kIntervalPerRank * size)) {
  if (rank_ != 0) return;
  reports_.resize(static_cast<std::size_t>(size_));
  is_here_.resize(static_cast<std::size_t>(size_));
}

std::optional<Verdict> Heartbeat::do_work(Time now, const RankStatus& mine) {
  const bool urgent = mine.done != 0 || mine.failed != 0 || is_news(mine, reported_);
  if (now < next_look_ && !urgent) return std::nullopt;
  next_look_ = now + kLookEvery;
  if (!greeted_) round_ended_ = heard_ = now;
  if (!in_round_ && (!greeted_ || now - round_ended_ >= interval_ || is_news(mine, reported_))) report(now, mine);
  receive(now);
  if (rank_ == 0) {
    if (n_here_ == size_) conclude(now);
    report_of_waiting(now);
  }
  auto verdict = verdict_;
  verdict_.reset();
  return verdict;
}

void Heartbeat::report(Time now, const RankStatus& mine) {
  reported_ = mine;
  ++reports_made_;
  in_round_ = greeted_ = true;
  heard_ = now;
  waited_for_ = -1;
  next_notice_ = notice_;
  if (rank_ == 0) return take_report(0, mine);
  channel_->send(0, std::as_bytes(std::span(&mine, 1)));
}

void Heartbeat::receive(Time now) {
  while (const auto from = channel_->receive(buffer_)) {
    if (rank_ == 0) {
      take_report(*from, message_in<RankStatus>(buffer_));
    } else {
      take_note(now, message_in<HeartbeatNote>(buffer_));
    }
  }
}

void Heartbeat::take_report(int rank, const RankStatus& status) {
  const auto at = static_cast<std::size_t>(rank);
  reports_[at] = status;
  is_here_[at] = 1;
  ++n_here_;
}

void Heartbeat::take_note(Time now, const HeartbeatNote& note) {
  heard_ = now;
  if (note.kind == HeartbeatNote::kEnding) {
    reported_to_end_ = true;
    return;
  }
  if (note.kind == HeartbeatNote::kWaiting) {
    waited_for_ = note.waited_for;
    return;
  }
  verdict_ = note.verdict;
  in_round_ = false;
  round_ended_ = now;
}

void Heartbeat::conclude(Time now) {
  HeartbeatNote note;
  auto& outcome = note.verdict;
  outcome.all_done = outcome.all_frozen = 1;
  LiveVotes votes;
  for (int r = 0; r < size_; ++r) {
    const auto& status = reports_[static_cast<std::size_t>(r)];
    outcome.begun_end = std::max(outcome.begun_end, status.begun_end);
    outcome.progress += status.progress;
    outcome.live_epoch = std::max(outcome.live_epoch, status.live_epoch);
    outcome.live_end = std::max(outcome.live_end, status.live_end);
    outcome.safe_end = std::max(outcome.safe_end, status.safe_end);
    add(votes, status.live_votes);
    outcome.all_done &= status.done;
    outcome.all_frozen &= status.frozen;
    outcome.any_failed |= status.failed;
    outcome.keeps_a_pace |= status.keeps_a_pace;
    outcome.live_full |= status.live_full;
    if (status.request.command <= outcome.request.command) continue;
    outcome.request = status.request;
    outcome.asked_by = r;
  }
  outcome.live_jump = majority(votes);
  std::ranges::fill(is_here_, std::uint8_t{0});
  n_here_ = 0;
  for (int r = 1; r < size_; ++r) send(r, note);
  take_note(now, note);
}

void Heartbeat::leave_out(Duration absence) {
  heard_ += absence;
  round_ended_ += absence;
}

void Heartbeat::report_to_end() {
  HeartbeatNote note;
  note.kind = HeartbeatNote::kEnding;
  report_waiting_ones(note);
}

void Heartbeat::report_of_waiting(Time now) {
  if (!in_round_ || now - heard_ < next_notice_) return;
  next_notice_ += std::min(next_notice_, longest_notice_);
  HeartbeatNote note;
  note.kind = HeartbeatNote::kWaiting;
  note.waited_for = first_missing();
  report_waiting_ones(note);
}

/// Sends to the ranks that have reported: they are waiting to read it.
void Heartbeat::report_waiting_ones(const HeartbeatNote& note) {
  for (int r = 1; r < size_; ++r) {
    if (is_here_[static_cast<std::size_t>(r)] != 0) send(r, note);
  }
}

void Heartbeat::send(int to, const HeartbeatNote& note) { channel_->send(to, std::as_bytes(std::span(&note, 1))); }

int Heartbeat::first_missing() const {
  return static_cast<int>(std::ranges::find(is_here_, std::uint8_t{0}) - is_here_.begin());
}

Heartbeat::Silence Heartbeat::silence(Time now) const {
  Silence silence;
  if (!in_round_) return silence;
  silence.lasts = now - (rank_ == 0 || waited_for_ < 0 ? heard_ : round_ended_);
  if (silence.lasts < notice_) return silence;
  if (rank_ != 0) {
    // Rank 0 repeats its note while it waits.
    const bool rank_0_lives = waited_for_ >= 0 && now - heard_ < 2 * longest_notice_;
    silence.ranks = {rank_0_lives ? waited_for_ : 0};
    return silence;
  }
  for (int r = 0; r < size_; ++r) {
    if (is_here_[static_cast<std::size_t>(r)] == 0) silence.ranks.push_back(r);
  }
  return silence;
}

}  // namespace eventloom
