#include "core/engine/live_inputs.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/control/live_votes.hpp"
#include "core/runtime/clock.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/setting.hpp"
#include "formats/offset_span.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

namespace {

using std::chrono::nanoseconds;

constexpr int kMarks = 64;  ///< kept per `memory`
/// How long the end of a run waits for data still in flight: launchers kill a process two seconds after asking it to
/// end.
constexpr auto kLongestEnd = std::chrono::milliseconds(1500);
/// The same for a source with no other ahead of it.
constexpr auto kSilentAtEnd = std::chrono::milliseconds(200);
/// How long the end of a run waits for data still held by a source's feed.
constexpr auto kLongestDrain = std::chrono::milliseconds(1000);

/// Sources no farther apart than this are at the same place.
constexpr double kNear_s = 60;
/// A source silent for longer has no vote on where the run is.
constexpr auto kVote = std::chrono::seconds(60);
/// An optional source silent for this long is not waited for.
constexpr auto kOptionalSilence = std::chrono::milliseconds(250);
/// Data of an optional source may arrive this much later than those of the foremost source: they pass through its
/// feed's thread.
constexpr auto kOptionalDelay = std::chrono::milliseconds(50);

}  // namespace

void Frontier::advance(SteadyTime now, Epoch epoch, nanoseconds memory) {
  if (epoch > newest_) since_ = now;
  newest_ = std::max(newest_, epoch);
  if (!marks_.empty() && (newest_ == marks_.back().epoch || now - marks_.back().time < memory / kMarks)) return;
  marks_.push_back({now, newest_});
  // The oldest mark kept is at least as old as `memory`.
  while (marks_.size() > 1 && now - marks_[1].time > memory) marks_.pop_front();
}

Epoch Frontier::at(SteadyTime time) const {
  const auto later = std::ranges::upper_bound(marks_, time, {}, &Mark::time);
  return later == marks_.begin() ? 0 : std::prev(later)->epoch;
}

std::size_t LiveInputs::add(SourceId id, LiveStream& stream, std::int64_t lead) {
  if (patience_.alone) stream.expect(std::numeric_limits<Epoch>::max());
  inputs_.push_back({.id = id, .stream = &stream, .lead = lead});
  return inputs_.size() - 1;
}

void LiveInputs::close() {
  for (auto& input : inputs_) input.stream->finish(input.run_end);
  for (auto& input : inputs_) input.stream->close();
}

std::size_t LiveInputs::receive(SteadyTime now) {
  now_ = now;
  std::size_t heard = 0;
  for (auto& input : inputs_) {
    if (input.heard == SteadyTime{}) input.heard = now;
    const auto before = input.stream->progress();
    // The end of the run does not wait for what cannot come.
    const bool held_up = before.held_up && hurry_ == SteadyTime{};
    const bool listens = (before.listens || before.drained) && !held_up;
    if (!listens) input.listens_since = now;
    expect(input);
    const bool something = input.stream->receive() != 0;
    if (something) ++heard;
    if (something || !listens) {
      input.heard = now;
      input.reported = {};
    } else {
      report_silence(input);
    }
    const auto progress = input.stream->progress();
    if (progress.received > input.was_at) {
      input.was_at = progress.received;
      input.moved = now;
    }
    if (std::exchange(input.late_passed, progress.late_passed) != progress.late_passed) wait_longer(input);
    look_for_jump(input, progress);
    if (input.absent) look_for_return(input, progress.received);
  }
  advance(received());
  return heard;
}

void LiveInputs::advance(Epoch frontier) {
  frontier_.advance(now_, frontier, std::max<nanoseconds>(patience_.epoch_timeout, kOptionalDelay));
}

/// A silent board's position advances with time; a board that was away may return at the position of the others.
void LiveInputs::expect(Input& input) const {
  if (patience_.epochs_per_second == 0) return input.stream->expect(frontier_.now());
  const auto passed = input.moved == SteadyTime{} ? nanoseconds{} : nanoseconds(now_ - input.moved);
  const auto epochs = static_cast<Epoch>(in_seconds(passed) * patience_.epochs_per_second);
  input.stream->expect(std::max(frontier_.now(), input.was_at + epochs));
}

void LiveInputs::look_for_jump(Input& input, const LiveProgress& progress) {
  if (progress.aside.has_value() == input.aside) return;
  input.aside = progress.aside.has_value();
  if (!input.aside) return;
  if (!input.absent) input.absent_from = progress.complete;
  input.absent = true;
  report_absent(input,
                fmt::format("jumps from epoch {} to {}, far from the others at {}: it is set aside, and its data "
                            "are dropped (out_of_step) until it is back",
                            progress.received.value, progress.aside->value, frontier_.now().value));
}

/// Bounded, as a clock may jump repeatedly.
void LiveInputs::report_absent(Input& input, const std::string& how) {
  if (!input.reported_absent.admit()) return;
  log::warn("source {} ({}) {}{}", input.id.value, input.stream->name(), how,
            input.reported_absent.at_last("; further messages of this kind are suppressed"));
}

Epoch LiveInputs::near() const { return static_cast<Epoch>(kNear_s * patience_.epochs_per_second); }

LiveVotes LiveInputs::votes() const {
  LiveVotes votes;
  votes.near = near();
  for (const auto& input : inputs_) {
    if (input.stream->end_epoch() || now_ - input.heard > kVote) continue;
    const auto place = input.stream->progress().aside;
    if (place && *place > frontier_.now()) {
      add_jump(votes, *place);
    } else if (place) {
      ++votes.others;
    } else if (input.was_at != 0) {
      ++votes.in_step;
    }
  }
  return votes;
}

Epoch LiveInputs::received() const {
  Epoch most = 0;
  for (const auto& input : inputs_) {
    // A source finished by the end of the run may have had more data: the others need not reach its end.
    const auto end = input.finished == SteadyTime{} ? input.stream->end_epoch() : std::nullopt;
    most = std::max(most, end ? *end + patience_.passed_at_end : input.stream->progress().received);
  }
  return most;
}

Epoch LiveInputs::seen_end() const {
  Epoch most = received();
  for (const auto& input : inputs_) most = std::max(most, input.stream->progress().seen_end);
  return most;
}

bool LiveInputs::any_full() const {
  return std::ranges::any_of(inputs_,
                             [](const Input& i) { return !i.stream->progress().listens && !i.stream->end_epoch(); });
}

void LiveInputs::set_others(const Others& others) {
  advance(others.frontier);
  others_full_ = others.any_full;
  if (others.jump == 0) return;
  jumped_to_ = std::max(jumped_to_, others.jump);
  for (auto& input : inputs_) {
    const auto place = input.stream->progress().aside;
    if (!place || *place + near() < others.jump || *place > others.jump + near()) continue;
    log::warn(
        "source {} ({}): its jump to epoch {} is accepted: most of the sources heard within the last minute are there",
        input.id.value, input.stream->name(), place->value);
    input.stream->expect(*place);
  }
}

bool LiveInputs::request(std::size_t input, EpochRange epochs) {
  auto& of = inputs_[input];
  if (of.stream->request(epochs)) return true;
  if (has_nothing_more(of, epochs)) return of.stream->advance(epochs.end, Advance::empty);
  if (is_dispensable(of, epochs) && of.stream->advance(epochs.end, Advance::settled)) return true;
  const bool finished = of.finished != SteadyTime{};
  if (!finished && !overdue(of, epochs)) return false;
  if (hurry_ != SteadyTime{} && !drained(of)) return false;
  return give_up(of, epochs.end);
}

void LiveInputs::hurry() { hurry_ = now_; }

/// The data received reach into the slice that `epochs` are sent for, not only the margin before it, and the foremost
/// source of all ranks has made no progress for a while although no source is full.
bool LiveInputs::all_quiet(const Input& input, EpochRange epochs) const {
  const Epoch begin = epochs.begin == 0 ? 0 : shifted(epochs.begin, input.lead);
  return patience_.quiet.count() != 0 && hurry_ == SteadyTime{} && !others_full_ && frontier_.now() > begin &&
         now_ - std::max(frontier_.since(), paused_until_) >= patience_.quiet;
}

/// When all are quiet, a source only slightly behind the others has sent everything, provided it was still sending when
/// they fell silent.
bool LiveInputs::has_nothing_more(const Input& input, EpochRange epochs) const {
  if (!all_quiet(input, epochs) || input.aside || input.absent || now_ - input.listens_since < patience_.quiet)
    return false;
  if (input.was_at >= frontier_.now()) return true;
  const auto in_quiet = static_cast<Epoch>(in_seconds(patience_.quiet) * patience_.epochs_per_second);
  const Epoch most_behind = std::max(epochs.end - epochs.begin, in_quiet);
  const bool heard = input.was_at != 0 && input.stream->peer().connected;
  const bool lately =
      patience_.epoch_timeout.count() == 0 || frontier_.since() - input.moved <= patience_.epoch_timeout;
  return heard && lately && frontier_.now() - input.was_at <= most_behind && now_ - input.moved >= patience_.quiet;
}

bool LiveInputs::is_optional(const Input& input) { return (input.stream->header().flags & kOptional) != 0; }

/// A silent optional source is not waited for once another has passed the slice, with a short delay.
bool LiveInputs::is_dispensable(const Input& input, EpochRange epochs) const {
  return is_optional(input) && now_ - std::max(input.heard, input.listens_since) >= kOptionalSilence &&
         frontier_.at(now_ - kOptionalDelay) >= epochs.end;
}

/// The sender holds hits back for longer than --flush-after assumes.
void LiveInputs::wait_longer(const Input& input) {
  patience_.quiet *= 2;
  log::warn(
      "source {} ({}) was silent, and then sent hits of a slice that {} had ended: they are dropped (late); from now "
      "on {:.1f} s of silence end a slice",
      input.id.value, input.stream->name(), name_of(Setting::flush_after), in_seconds(patience_.quiet));
}

/// Everything the source sent before the returned epoch has arrived or is known to be lost.
Epoch LiveInputs::reached(const Input& input) {
  const auto progress = input.stream->progress();
  return std::max(progress.complete, progress.seen_end);
}

bool LiveInputs::overdue(const Input& input, EpochRange epochs) const {
  const auto patience = patience_.epoch_timeout;
  const Epoch end = epochs.end;
  if (all_quiet(input, epochs)) {
    if (input.aside || input.absent) return true;
    if (patience.count() != 0 && now_ - std::max({frontier_.since(), input.moved, input.listens_since}) >= patience)
      return true;
  }
  if (input.aside) return frontier_.now() >= end || hurry_ != SteadyTime{};
  if (hurry_ != SteadyTime{}) {
    // If no other source is ahead, silence means that the source has sent everything.
    const auto since = std::max({hurry_, input.listens_since, input.heard});
    if (frontier_.now() <= reached(input) && now_ - since >= kSilentAtEnd) return true;
    const auto longest =
        patience.count() == 0 ? nanoseconds(kLongestEnd) : std::min<nanoseconds>(patience, kLongestEnd);
    if (now_ - std::max(hurry_, input.listens_since) >= longest) return true;
  }
  // The missing data may have arrived while the source was not read.
  if (patience.count() == 0 || now_ - input.listens_since < patience) return false;
  if (input.absent) return frontier_.now() >= end;
  const bool left_behind = input.stream->progress().received + near() < jumped_to_;
  const bool moves = now_ - input.moved < patience && !left_behind;
  const bool too_far = others_full_ && now_ - paused_until_ >= patience;
  return frontier_.at(now_ - patience) >= end && (!moves || too_far);
}

/// At the end of the run, data that a source still holds are delivered before it is given up.
bool LiveInputs::drained(Input& input) {
  if (input.finished == SteadyTime{}) {
    input.finished = now_;
    input.missing = frontier_.now() > reached(input) && !is_optional(input);
    input.stream->finish(input.run_end);
  }
  return input.stream->progress().drained || now_ - std::max(input.finished, input.listens_since) >= kLongestDrain;
}

bool LiveInputs::give_up(Input& input, Epoch end) {
  // Only the end of a run ends a stream. If others have ended in the meantime, this one is not incomplete.
  const bool ending = hurry_ != SteadyTime{};
  const bool missing = !ending || input.missing;
  if (!ending && !input.absent) {
    input.absent = true;
    input.absent_from = input.stream->progress().complete;
    report_absent(input, fmt::format("is at epoch {}, others at {}: slices are built without it until it has caught up",
                                     input.absent_from.value, frontier_.now().value));
  }
  return input.stream->advance(end, missing ? Advance::missing : Advance::ended);
}

void LiveInputs::look_for_return(Input& input, Epoch received) {
  if (input.aside || received < frontier_.at(now_ - patience_.epoch_timeout)) return;
  input.absent = false;
  if (input.reported_absent.exceeded()) return;
  log::warn("source {} ({}) is back at epoch {}; its data are missing from epoch {} on", input.id.value,
            input.stream->name(), received.value, input.absent_from.value);
}

SourceState LiveInputs::state(std::size_t number) const {
  const auto& input = inputs_[number];
  if (input.absent || input.aside) return SourceState::given_up;
  if (!input.stream->progress().listens) return SourceState::full;
  const bool is_silent = patience_.stall_warning.count() > 0 && now_ - input.heard >= patience_.stall_warning;
  return is_silent ? SourceState::silent : SourceState::live;
}

void LiveInputs::report_silence(Input& input) {
  const nanoseconds silence = now_ - input.heard;
  const auto first = patience_.stall_warning;
  if (first.count() == 0 || silence < std::max(first, 2 * input.reported) || input.stream->end_epoch()) return;
  input.reported = silence;
  log::warn("source {} ({}) has sent nothing for {:.1f} s: {}", input.id.value, input.stream->name(),
            in_seconds(silence),
            input.stream->peer().connected ? "its sender is stopped, or the connection to it is broken"
                                           : "no sender is connected");
}

}  // namespace eventloom
