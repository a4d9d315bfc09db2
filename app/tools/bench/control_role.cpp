#include "app/tools/bench/control_role.hpp"

#include <cstring>
#include <span>

namespace eventloom {

namespace {

/// Maximum number of unanswered reports; further ones wait.
constexpr std::uint64_t kUnanswered = 64;
/// Number of reports after which the controller broadcasts.
constexpr std::uint64_t kReportsPerBroadcast = 8;

}  // namespace

ControlRole::ControlRole(Settings settings, const Communicator& communicator)
    : settings_(std::move(settings)),
      channel_(communicator),
      rank_(static_cast<std::uint32_t>(communicator.rank())),
      heard_(static_cast<std::size_t>(communicator.size())) {}

std::size_t ControlRole::do_work(SteadyTime) {
  std::size_t work = report();
  while (channel_.receive(buffer_)) {
    Note note;
    std::memcpy(&note, buffer_.data(), sizeof note);
    take(note);
    ++work;
  }
  return work;
}

std::size_t ControlRole::report() {
  if (reported_last_) return 0;
  const auto owed = static_cast<std::uint64_t>(static_cast<double>(settings_.sent()) * settings_.per_message);
  std::size_t n = 0;
  for (; reported_ < owed && reported_ - acknowledged_ < kUnanswered; ++n) {
    ++reported_;
    send(0, {.reports = reported_, .kind = kReport, .from = rank_});
  }
  if (!settings_.all_sent() || reported_ < owed) return n;
  reported_last_ = true;
  send(0, {.reports = reported_, .kind = kLastReport, .from = rank_});
  return n + 1;
}

void ControlRole::take(const Note& note) {
  if (note.kind == kBroadcast || note.kind == kOver) {
    acknowledged_ = note.reports;
    over_ = note.kind == kOver;
    return;
  }
  heard_[note.from] = note.reports;
  if (note.kind == kLastReport) ++n_last_;
  if (n_last_ == heard_.size()) return broadcast(kOver);
  // The last reports before a pause must be answered as well.
  if (++since_broadcast_ >= kReportsPerBroadcast || note.kind == kLastReport) broadcast(kBroadcast);
}

void ControlRole::broadcast(Kind kind) {
  since_broadcast_ = 0;
  for (std::size_t to = 0; to < heard_.size(); ++to) {
    send(static_cast<int>(to), {.reports = heard_[to], .kind = kind, .from = rank_});
  }
}

void ControlRole::send(int to, const Note& note) {
  channel_.send(to, std::as_bytes(std::span(&note, 1)));
  ++messages_;
}

}  // namespace eventloom
