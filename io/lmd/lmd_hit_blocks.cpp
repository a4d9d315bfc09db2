#include "io/lmd/lmd_hit_blocks.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "io/recorded/block_losses.hpp"
#include "io/recorded/numbered_blocks.hpp"
#include "io/uri/optional_source.hpp"

namespace eventloom {

namespace {

/// Longest pause in time stamps that a single event can establish: one hour.
constexpr std::uint64_t kLongestPausePs = 3600 * std::uint64_t{1'000'000'000'000};

}  // namespace

StreamHeader lmd_stream_header(const SourceUri& uri, SourceId id, const TimeBase& base, const LmdTime& time) {
  return {.source = id.value,
          .base = base,
          .payload = PayloadTable::uniform(PayloadTable::kLengthInFirstWord),
          .text = uri.text() + "\n" + std::string(lmd_hit_rule()) + "Time: " + time.description() + ".\n",
          .flags = kTriggerInPayload | (time.numbered() ? std::uint32_t{kNumbered} : 0U) |
                   optional_flag(uri, time.numbered())};
}

LmdHitBlocks::LmdHitBlocks(std::string name, const LmdTime& time, const TimeBase& base, std::optional<EraRule> eras)
    : name_(std::move(name)), time_(time), numbers_(time.bits()), steps_(Tick(kLongestPausePs / base.tick_ps)) {
  if (eras && time_.numbered()) eras_.emplace(*eras);
}

void LmdHitBlocks::restart() {
  repeats_.restart();
  if (eras_) eras_->reconnect();
  if (time_.numbered()) missing_before_ = numbers_.counters()[Metric::missing_numbers];
}

void LmdHitBlocks::open(const std::string& path) {
  paths_.push_back(path);
  defect_log_.emplace(path);
}

void LmdHitBlocks::begin(HitBlock& block) {
  block.clear();
  std::swap(block, waiting_);
  waiting_.clear();
}

bool LmdHitBlocks::add(const LmdEvent& event, HitBlock& block) {
  triggers_.count(event.trigger);
  const auto number = time_.number_of(event);
  if (!number) {
    ++untimed_;
    leave_out(event, DropCause::untimed, block);
    return true;
  }
  if (comes_again(event, *number)) {
    lose(event, DropCause::duplicate, block);
    return true;
  }
  report_repeats();
  if (!time_.numbered()) lose_missing(event, block);
  const bool follows = numbers_.step(*number) == 1;
  const auto judgement = judge(event, *number, block);
  if (begins_era_) missing_before_.reset();
  lose_missing_numbers(block);
  if (follows) missing_before_.reset();
  if (judgement.previous) take_back(*judgement.previous, block);
  if (judgement.current) {
    leave_out(event, *judgement.current, block);
    return true;
  }
  const bool full = is_full(block);
  keep(event, *number, judgement.tick, full ? waiting_ : block);
  if (full && hits_.folded() > 0 && !folded_reported_) warn_of_folded();
  return !full;
}

/// Whether the event was already received before the connection was lost.
bool LmdHitBlocks::comes_again(const LmdEvent& event, std::uint32_t number) {
  using EraStep = LmdEras::EraStep;
  const auto era = eras_ ? eras_->judge(event, number, numbers_.step(number)) : EraStep::continues;
  begins_era_ = era == EraStep::begins_era;
  const bool again = time_.numbered() ? era == EraStep::comes_again : repeats_.repeats(event.number, time_.of(event));
  if (!again) return false;
  ++repeated_;
  if (time_.numbered()) numbers_.repeat();
  return true;
}

/// Reports a series of repeated events as one defect.
void LmdHitBlocks::report_repeats() {
  const auto n = repeated_ - std::exchange(repeats_reported_, repeated_);
  if (n == 0) return;
  log::warn("{}: the server has sent {} events again after reconnecting; they are dropped", name_, n);
}

/// Counts the events that a reconnection has cost, before the first new event. They count as a hit each, since the
/// number of their hits is unknown. Where times are event numbers, EventNumbers counts them.
void LmdHitBlocks::lose_missing(const LmdEvent& event, HitBlock& block) {
  const auto missing = repeats_.missing_before(event.number);
  if (missing == 0) return;
  missing_ += missing;
  log::warn("{}: {} events before number {} were lost with the connection, by their numbers", name_, missing,
            event.number);
  add_loss(block, {.before = block.size(), .offset = event.offset, .hits = missing, .cause = DropCause::lost});
}

/// Counts the numbers that a reconnection has cost, once an event shows that the first new one is right. Other missing
/// numbers are no losses: the server may not have sent them.
void LmdHitBlocks::lose_missing_numbers(HitBlock& block) {
  if (!missing_before_) return;
  const auto missing = numbers_.counters()[Metric::missing_numbers] - *missing_before_;
  if (missing == 0) return;
  missing_before_.reset();
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  add_loss(
      block,
      {.before = block.size(), .hits = static_cast<std::uint32_t>(std::min(missing, kMost)), .cause = DropCause::lost});
}

/// Judges the newest event, since no other event of its era follows, and begins a new era.
EventNumbers::Judgement LmdHitBlocks::begin_era(const LmdEvent& event, std::uint32_t number) {
  EventNumbers::Judgement judgement;
  judgement.previous = numbers_.finish();
  judgement.tick = numbers_.begin_era(number);
  ++n_eras_;
  defect_log_->say(Defect::era, [&] {
    return fmt::format("event numbers start again at {} (trigger {}): era {}, {} is added to its numbers", number,
                       event.trigger, n_eras_, numbers_.offset().value);
  });
  return judgement;
}

EventNumbers::Judgement LmdHitBlocks::judge(const LmdEvent& event, std::uint32_t number, const HitBlock& block) {
  if (!time_.numbered()) return judge_stamped(event);
  if (begins_era_) return begin_era(event, number);
  const bool completes_kept = kept_ && numbers_.repeats(number) && lmd_hits_begin(block, kept_->first_hit, event);
  return numbers_.judge(number, completes_kept);
}

EventNumbers::Judgement LmdHitBlocks::judge_stamped(const LmdEvent& event) {
  const auto tick = time_.of(event);
  EventNumbers::Judgement judgement;
  if (tick) {
    judgement = steps_.judge(*tick);
  } else {
    judgement.current = time_.cause_for_none(
        event, fmt::format("'{}': offset {}", paths_.empty() ? name_ : paths_.back(), event.offset));
    untimed_ += *judgement.current == DropCause::untimed ? 1 : 0;
  }
  return judgement;
}

void LmdHitBlocks::keep(const LmdEvent& event, std::uint32_t number, Tick tick, HitBlock& block) {
  kept_ = KeptEvent::at_end_of(block, paths_.size() - 1, event.offset, number);
  hits_.append(event, tick, block);
  if (!time_.numbered()) repeats_.keep(event.number, tick);
  if (eras_) eras_->keep(event, number, begins_era_);
}

/// Drops the last kept event.
void LmdHitBlocks::take_back(DropCause cause, HitBlock& block) {
  if (!kept_) return;
  kept_->take_back(cause, block);
  repeats_.take_back();
  const auto& file = paths_[kept_->file];
  report_left_out(*defect_log_, kept_->offset, kept_->number, kept_->file + 1 == paths_.size() ? "" : file, cause);
  kept_.reset();
}

void LmdHitBlocks::lose(const LmdEvent& event, DropCause cause, HitBlock& block) {
  add_loss(block, {.before = block.size(),
                   .offset = event.offset,
                   .hits = static_cast<std::uint32_t>(event.items()),
                   .cause = cause});
}

/// Drops an event that is immediately known to be bad.
void LmdHitBlocks::leave_out(const LmdEvent& event, DropCause cause, HitBlock& block) {
  lose(event, cause, block);
  if (cause != DropCause::untimed && cause != DropCause::corrupt)
    return report_left_out(*defect_log_, event.offset, event.number, "", cause);
  defect_log_->say(Defect::remark, event.offset,
                   [&] { return fmt::format("event {} is dropped: {}", event.number, time_.reason_for_none(event)); });
}

void LmdHitBlocks::add(const LmdProblem& problem, DropCause cause, bool ends, HitBlock& block) {
  if (!problem.text.empty()) defect_log_->say(Defect::damage, problem.offset, [&] { return problem.text; });
  if (problem.effect == LmdEffect::none) {
    ++anomalies_;
    return;
  }
  const bool breaks_off = problem.effect == LmdEffect::breaks_off;
  add_loss(block, {.before = block.size(),
                   .offset = problem.offset,
                   .hits = problem.hits,
                   .cause = cause,
                   .leaves_hole = problem.effect == LmdEffect::hole || (breaks_off && !ends),
                   .breaks_off = breaks_off && ends});
}

void LmdHitBlocks::raise(Tick by, HitBlock& block) {
  numbers_.raise(by);
  for (auto& time : block.time) time += by;
  for (auto& time : waiting_.time) time += by;
}

/// Whether the newest event may still be taken back.
bool LmdHitBlocks::may_go() const { return kept_ && (time_.numbered() || steps_.doubts()); }

bool LmdHitBlocks::is_complete(const HitBlock& block) const {
  if (!may_go()) return block.size() != 0 || !block.losses.empty();
  return kept_->first_hit != 0 || kept_->losses != 0;
}

void LmdHitBlocks::hold_back(HitBlock& block) {
  if (may_go()) {
    waiting_ = block.cut(kept_->first_hit, kept_->losses);
    kept_->first_hit = kept_->losses = 0;
  } else {
    kept_.reset();
  }
  if (hits_.folded() > 0 && !folded_reported_) warn_of_folded();
}

std::optional<Tick> LmdHitBlocks::holds_back() const {
  if (waiting_.size() == 0 || !newest_stays()) return std::nullopt;
  return waiting_.time.back();
}

void LmdHitBlocks::finish(HitBlock& block) {
  if (const auto cause = time_.numbered() ? numbers_.finish() : steps_.finish()) take_back(*cause, block);
  lose_missing_numbers(block);
  if (time_.numbered()) report_narrower(name_, time_.number_place(), numbers_);
  kept_.reset();
  report_repeats();
  if (hits_.folded() > 0 && !folded_reported_) warn_of_folded();
}

void LmdHitBlocks::warn_of_folded() {
  folded_reported_ = true;
  log::warn("{}: control or crate of a subevent is above 63: the channel does not identify it, see its payload", name_);
}

SourceCounts LmdHitBlocks::counts(const Counters& found) const {
  SourceCounts counts{found, triggers_};
  auto& counters = counts.counters;
  counters.keep({Metric::source_events,
                 Metric::subevents,
                 Metric::empty_events,
                 Metric::skipped_elements,
                 {Metric::folded_ids, hits_.folded()}});
  if (time_.numbered()) {
    counters.add(numbers_.counters());
    if (untimed_ != 0) counters.keep({{Metric::untimed_events, untimed_}});
  } else {
    counters.keep({{Metric::untimed_events, untimed_}, {Metric::out_of_step, steps_.out_of_step()}});
    if (missing_ != 0) counters.keep({{Metric::missing_numbers, missing_}});
    if (time_.turns().any()) counters.keep({{Metric::clock_turns, time_.turns().turns()}});
  }
  if (n_eras_ > 1) counters.keep({{Metric::eras, n_eras_}, {Metric::era_offset, numbers_.offset().value}});
  if (found[Metric::buffers] != 0) {
    counters.keep({Metric::buffers_continued, Metric::missing_buffers, Metric::skipped_fragments});
  }
  return counts;
}

}  // namespace eventloom
