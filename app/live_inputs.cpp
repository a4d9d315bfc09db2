#include "app/live_inputs.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace eventloom {

namespace {

using std::chrono::nanoseconds;

constexpr int kMarks = 64;  ///< in the time that is remembered
/// How long the end of a run waits for what is under way: launchers that were told to end kill after two seconds.
constexpr auto kLongestEnd = std::chrono::milliseconds(1500);
/// The same where nobody is ahead.
constexpr auto kSilentAtEnd = std::chrono::milliseconds(200);
/// How long it waits for what the feed of a source still holds.
constexpr auto kLongestDrain = std::chrono::milliseconds(1000);

double in_seconds(nanoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

void Frontier::advance(SteadyTime now, Epoch epoch, nanoseconds memory) {
  newest_ = std::max(newest_, epoch);
  if (!marks_.empty() && (newest_ == marks_.back().epoch || now - marks_.back().time < memory / kMarks)) return;
  marks_.push_back({now, newest_});
  // The oldest that is kept answers for the whole of the memory.
  while (marks_.size() > 1 && now - marks_[1].time > memory) marks_.pop_front();
}

Epoch Frontier::at(SteadyTime time) const {
  const auto later = std::ranges::upper_bound(marks_, time, {}, &Mark::time);
  return later == marks_.begin() ? 0 : std::prev(later)->epoch;
}

std::size_t LiveInputs::add(SourceId id, LiveStream& stream) {
  inputs_.push_back({.id = id, .stream = &stream});
  return inputs_.size() - 1;
}

void LiveInputs::end_at(Epoch end) {
  for (auto& input : inputs_) input.stream->end_at(end);
}

void LiveInputs::close() {
  for (auto& input : inputs_) input.stream->finish();
  for (auto& input : inputs_) input.stream->close();
}

std::size_t LiveInputs::receive(SteadyTime now) {
  now_ = now;
  std::size_t heard = 0;
  for (auto& input : inputs_) {
    if (input.heard == SteadyTime{}) input.heard = now;
    const bool listens = input.stream->listens() || input.stream->drained();
    if (!listens) input.listens_since = now;
    const bool something = input.stream->receive() != 0;
    if (something) ++heard;
    if (something || !listens) {
      input.heard = now;
      input.told = {};
    } else {
      tell_silence(input);
    }
    if (input.stream->heard_of() > input.was_at) {
      input.was_at = input.stream->heard_of();
      input.moved = now;
    }
    if (input.absent) look_for_return(input);
  }
  frontier_.advance(now, reached(), patience_.epoch_timeout);
  return heard;
}

Epoch LiveInputs::reached() const {
  Epoch most = 0;
  for (const auto& input : inputs_) {
    const auto end = input.stream->end_epoch();
    most = std::max(most, end ? *end + patience_.passed_at_end : input.stream->heard_of());
  }
  return most;
}

Epoch LiveInputs::seen_end() const {
  Epoch most = reached();
  for (const auto& input : inputs_) most = std::max(most, input.stream->seen_end());
  return most;
}

bool LiveInputs::any_full() const {
  return std::ranges::any_of(inputs_, [](const Input& i) { return !i.stream->listens() && !i.stream->end_epoch(); });
}

void LiveInputs::set_others(Epoch frontier, bool any_full) {
  frontier_.advance(now_, frontier, patience_.epoch_timeout);
  others_full_ = any_full;
}

bool LiveInputs::ready(std::size_t input, EpochRange epochs) {
  auto& of = inputs_[input];
  if (of.stream->ready(epochs)) return true;
  const bool finished = of.finished != SteadyTime{};
  if (!finished && !overdue(of, epochs.end)) return false;
  if (hurry_ != SteadyTime{} && !drained(of)) return false;
  give_up(of, epochs.end);
  return true;
}

void LiveInputs::hurry() { hurry_ = now_; }

bool LiveInputs::overdue(const Input& input, Epoch end) const {
  const auto patience = patience_.epoch_timeout;
  if (hurry_ != SteadyTime{}) {
    // Where nobody is ahead, silence says that there is no more.
    const auto since = std::max({hurry_, input.listens_since, input.heard});
    if (frontier_.now() <= input.stream->reached() && now_ - since >= kSilentAtEnd) return true;
    const auto longest =
        patience.count() == 0 ? nanoseconds(kLongestEnd) : std::min<nanoseconds>(patience, kLongestEnd);
    if (now_ - std::max(hurry_, input.listens_since) >= longest) return true;
  }
  // What it lacks may have come while nobody listened to it.
  if (patience.count() == 0 || now_ - input.listens_since < patience) return false;
  if (input.absent) return frontier_.now() >= end;
  const bool moves = now_ - input.moved < patience;
  return frontier_.at(now_ - patience) >= end && (!moves || others_full_);
}

/// What a source holds back at the end of the run comes before it is given up.
bool LiveInputs::drained(Input& input) {
  if (input.finished == SteadyTime{}) {
    input.finished = now_;
    input.missing = frontier_.now() > input.stream->reached();
    input.stream->finish();
  }
  return input.stream->drained() || now_ - std::max(input.finished, input.listens_since) >= kLongestDrain;
}

void LiveInputs::give_up(Input& input, Epoch end) {
  // Others that ended in the meantime are not ahead for that.
  const bool finished = input.finished != SteadyTime{};
  const bool missing = finished ? input.missing : frontier_.now() > input.stream->reached();
  if (missing && !input.absent && hurry_ == SteadyTime{}) {
    input.absent = true;
    input.absent_from = input.stream->reached();
    spdlog::warn("source {} ({}) is at epoch {}, others at {}: slices are built without it until it has caught up",
                 input.id.value, input.stream->name(), input.absent_from, frontier_.now());
  }
  input.stream->give_up(end, missing);
}

void LiveInputs::look_for_return(Input& input) {
  if (input.stream->heard_of() < frontier_.at(now_ - patience_.epoch_timeout)) return;
  input.absent = false;
  spdlog::warn("source {} ({}) is back at epoch {}; it is missing from epoch {} on", input.id.value,
               input.stream->name(), input.stream->heard_of(), input.absent_from);
}

void LiveInputs::tell_silence(Input& input) {
  const nanoseconds silence = now_ - input.heard;
  const auto first = patience_.stall_warning;
  if (first.count() == 0 || silence < std::max(first, 2 * input.told) || input.stream->end_epoch()) return;
  input.told = silence;
  spdlog::warn("source {} ({}) has sent nothing for {:.1f} s: {}", input.id.value, input.stream->name(),
               in_seconds(silence),
               input.stream->is_connected() ? "its sender is stopped, or the way to it is cut" : "nobody is there");
}

}  // namespace eventloom
