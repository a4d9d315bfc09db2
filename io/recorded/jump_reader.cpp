#include "io/recorded/jump_reader.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "io/recorded/block_losses.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kFarthestPs = 1'000'000'000'000;  ///< 1 s: limit for frames and hits of a pulse that go back
constexpr std::uint64_t kReported = 3;                    ///< jumps reported individually per source

std::uint64_t ns_of(Tick ticks, std::uint64_t tick_ps) {
  __extension__ using Wide = unsigned __int128;
  constexpr Wide kPsPerNs = 1000;
  const Wide ns = (Wide{ticks.value} * tick_ps + kPsPerNs - 1) / kPsPerNs;
  return static_cast<std::uint64_t>(std::min<Wide>(ns, std::numeric_limits<std::uint64_t>::max()));
}

}  // namespace

JumpReader::JumpReader(std::unique_ptr<HitReader> reader, const TimeOrder& order)
    : reader_(std::move(reader)), order_(order) {
  if (order.frames_in_any_order) covered_.emplace(order.disorder, Tick(kFarthestPs / order.tick_ps));
  if (auto clock = order.watches_turns ? reader_->raw_clock() : std::nullopt) watch_.emplace(*std::move(clock));
  if (order.policy == JumpPolicy::refuse && !order.numbers) seen_.emplace();
  if (order.names_restarts) short_.emplace();
}

bool JumpReader::read(HitBlock& block) {
  if (!reader_->read(block)) {
    if (held_.size() == 0) return finish();
    block = std::exchange(held_, {});
    return true;
  }
  widen();
  any_out_ = false;
  if (!take_in_order(block)) judge(block);
  hits_ += block.size();
  if (any_out_) leave_out_hits(block, out_, DropCause::jump);
  if (held_.size() != 0) {
    held_.append(block);
    block = std::exchange(held_, {});
  }
  if (order_.policy != JumpPolicy::refuse) hold_back_leap(block);
  if (short_ && short_->is_over(order_.disorder)) short_.reset();
  return true;
}

void JumpReader::widen() {
  if (order_.is_strict) return;
  order_.disorder =
      std::max(order_.disorder, std::min(reader_->unordered_within(), Tick(kFarthestPs / order_.tick_ps)));
}

/// Handles the usual case: the block is in order and continues where the last one ended. Otherwise returns false.
bool JumpReader::take_in_order(HitBlock& block) {
  const auto& times = block.time;
  if (times.empty()) return true;
  if ((foremost_ && times.front() < foremost_->time) || !std::ranges::is_sorted(times)) return false;
  behind_ = false;
  if (covered_) covered_->run_on(times);
  if (seen_) seen_->run_on(times);
  if (watch_) watch_->run_on(times.back());
  if (short_) short_->run_on(times, block.channel);
  if (times.size() > 1) take(times[times.size() - 2], hits_ + times.size() - 1);
  take(times.back(), hits_ + times.size());
  if (added_ != 0) {
    for (Tick& time : block.time) time = in_era(time);
  }
  return true;
}

void JumpReader::judge(HitBlock& block) {
  out_.assign(block.size(), false);
  for (std::size_t i = 0; i < block.size(); ++i) {
    const Tick time = block.time[i];
    const bool fits = covered_ && fits_between(time, hits_ + i + 1);
    if (!foremost_ || time >= foremost_->time) {
      if (seen_) seen_->run_on({&time, 1});
      take(time, hits_ + i + 1);
      behind_ = false;
    } else if (fits || is_ordinary(foremost_->time - time)) {
      note_step(foremost_->time - time);
      foremost_->leapt = false;
      behind_ = false;
    } else {
      step_back(block, i);
      if (watch_) watch_->run_on(time);
    }
    if (watch_) watch_->take(time);
    if (short_) short_->take(time, block.channel[i]);
    block.time[i] = in_era(time);
  }
  if (watch_) require_no_turn(true);
  if (covered_) require_no_restart(true);
}

/// Whether a hit belongs to a frame that fits between those so far.
bool JumpReader::fits_between(Tick time, std::uint64_t hit) {
  const bool fits = covered_->take(time);
  if (covered_->steps_back() == 1 && step_[0].number == 0) {
    step_[0] = {hit, time};
    step_[1] = {foremost_->hit, foremost_->time};
  }
  return fits;
}

/// Throws UserError if frames that were taken to be stored in any order are those of a clock that begins again.
void JumpReader::require_no_restart(bool certain) const {
  if (!order_.sorts_restarts && covered_->restarts(certain)) refuse(restart());
}

/// Throws UserError if they may be, at the end.
void JumpReader::require_frames() const {
  if (order_.sorts_restarts || !covered_->may_restart()) return;
  refuse(restart() + "; if the hits are stored in any order instead, reorder=1s puts them in order");
}

std::string JumpReader::restart() const {
  const JumpMessage message(order_, watch_ ? &*watch_ : nullptr);
  return message.jump(step_[0], step_[1]) + ". " + message.remedies();
}

/// Throws UserError if ordinary disorder hides turns of a counter.
void JumpReader::require_no_turn(bool certain) const {
  const auto turn = watch_->found(certain);
  if (turn) throw UserError("'" + name() + "': " + JumpMessage(order_, &*watch_).turn(*turn));
}

/// Whether a step back from the foremost hit is ordinary disorder and stays in this era.
bool JumpReader::is_ordinary(Tick step) const {
  return step <= order_.disorder && step <= foremost_->time + added_ - era_begin_;
}

/// Takes a hit that is not before any other.
void JumpReader::take(Tick time, std::uint64_t hit) {
  if (eras_.empty()) eras_.push_back({time, time});
  const bool leapt = !foremost_ || time - foremost_->time > order_.disorder;
  const auto before = foremost_ ? std::optional(foremost_->time) : std::nullopt;
  foremost_ = Foremost{time, hit, leapt, before};
}

void JumpReader::step_back(HitBlock& block, std::size_t i) {
  const Tick time = block.time[i];
  const auto hit = hits_ + i + 1;
  const auto [ahead, ahead_hit, leapt, before] = *foremost_;
  note_step(ahead - time);
  const JumpMessage message(order_, watch_ ? &*watch_ : nullptr);
  if (order_.numbers) refuse(message.number_back({hit, time}, {ahead_hit, ahead}));
  if (leapt && (!before || time + order_.disorder >= *before)) {
    if (seen_) require_jump(block, i, true);
    report(message.ahead({ahead_hit, ahead}, ahead - time), "it is dropped");
    leave_out_leap(block, ahead_hit);
    foremost_->time = std::max(time, before.value_or(time));
    foremost_->hit = hit;
    foremost_->leapt = false;
    return;
  }
  if (behind_) return drop(i);
  if (seen_) require_jump(block, i, false);
  report(message.jump({hit, time}, {ahead_hit, ahead}),
         order_.policy == JumpPolicy::drop ? "hits that go back are dropped" : "time continues after the last hit");
  if (order_.policy == JumpPolicy::new_era) return begin_era(time, hit);
  behind_ = true;
  foremost_->leapt = false;
  drop(i);
}

void JumpReader::drop(std::size_t i) {
  out_[i] = true;
  any_out_ = true;
}

/// Drops hit number `hit`, which is in this block or held back.
void JumpReader::leave_out_leap(HitBlock& block, std::uint64_t hit) {
  if (hit > hits_) return drop(static_cast<std::size_t>(hit - hits_ - 1));
  auto losses = std::exchange(held_, {}).losses;
  for (auto& loss : losses) loss.before = 0;
  losses.push_back({.hits = 1, .cause = DropCause::jump});
  block.losses.insert(block.losses.begin(), losses.begin(), losses.end());
}

/// Reads on, since the input is refused in any case, and shows `judge` the hits from hit `next` of the block on.
template <class Judge>
void JumpReader::read_ahead(const HitBlock& block, std::size_t next, Judge& judge) {
  constexpr int kMostBlocks = 1024;
  for (; next < block.size(); ++next) judge.take(block.time[next]);
  HitBlock ahead;
  try {
    for (int n = 0; n < kMostBlocks && reader_->read(ahead) && ahead.size() != 0; ++n) {
      for (const Tick later : ahead.time) judge.take(later);
    }
  } catch (const UserError& e) {
    log::error("{}", e.what());
  }
}

/// Learns what the hit that goes back begins, or whether the one before it leapt. Throws UserError if it is disorder.
void JumpReader::require_jump(const HitBlock& block, std::size_t i, bool leapt) {
  if (covered_ && !leapt) require_no_restart(false);
  const NumberedHit hit{hits_ + i + 1, block.time[i]};
  struct Judges {
    StepBack step;
    OrderBehind order;
    void take(Tick time) {
      step.take(time);
      order.take(time);
    }
  } judges{StepBack(*seen_, foremost_->time, hit.time, order_.disorder), OrderBehind(foremost_->time, order_.disorder)};
  judges.order.take(hit.time);
  read_ahead(block, i + 1, judges);
  const auto before = NumberedHit{foremost_->hit, foremost_->time};
  const JumpMessage message(order_, nullptr);
  if (!leapt && judges.step.is_disorder()) refuse(message.disorder(hit, before, judges.step.farthest()));
  if (judges.order.is_none()) refuse(message.no_order(hit, before, judges.order.farthest()));
}

/// Begins an era: time continues one length of disorder after the last hit, so that hits slightly out of order after
/// the jump stay after it; or where the other sources of its clock continue.
void JumpReader::begin_era(Tick time, std::uint64_t hit) {
  const Tick end = in_era(foremost_->time);
  const Tick pause = std::max<Tick>(order_.disorder, 1);
  if (end > std::numeric_limits<Tick>::max() - 2 * pause) refuse_era(hit);
  eras_.back().last = foremost_->time;
  if (order_.eras.empty()) {
    era_begin_ = end;
    added_ = end + pause - time;
  } else {
    if (eras_.size() > order_.eras.size()) refuse("it has changed while it was read");
    era_begin_ = order_.eras[eras_.size() - 1].begin;
    added_ = order_.eras[eras_.size() - 1].added;
  }
  eras_.push_back({time, time});
  foremost_ = Foremost{time, hit, false, std::nullopt};
}

std::vector<EraSpan> JumpReader::eras() const {
  auto eras = eras_;
  if (foremost_) eras.back().last = foremost_->time;
  return eras;
}

Tick JumpReader::in_era(Tick time) const {
  const Tick result = time + added_;
  if (result < era_begin_) refuse_era(hits_);
  return result;
}

/// Holds back a last hit that leapt ahead, since it must be dropped if the leap turns out to be damage.
void JumpReader::hold_back_leap(HitBlock& block) {
  if (block.size() == 0 || !foremost_ || !foremost_->leapt || foremost_->hit != hits_) return;
  const auto behind = [&](const Loss& loss) { return loss.before >= block.size(); };
  const auto n_losses = std::ranges::find_if(block.losses, behind) - block.losses.begin();
  held_ = block.cut(block.size() - 1, static_cast<std::size_t>(n_losses));
}

bool JumpReader::finish() {
  if (watch_) require_no_turn(false);
  if (covered_) require_no_restart(false);
  if (covered_) require_frames();
  if (!std::exchange(summed_up_, true) && jumps_ > kReported && !order_.quiet) {
    log::error("{}: times jump {} times in all", name(), jumps_);
  }
  if (short_ && reader_->unordered_within() == 0) judge_short_restarts();
  return false;
}

/// At the end: throws UserError if the clock began again within ordinary disorder. Stretches without common channels
/// may as well be of several devices, written one after the other, which is only said.
void JumpReader::judge_short_restarts() {
  const auto found = std::exchange(short_, std::nullopt)->found();
  if (!found) return;
  const auto message = JumpMessage(order_, nullptr).short_restart(found->before, found->channels_recur);
  if (found->channels_recur) refuse(message);
  if (!order_.quiet) log::warn("{}: {}", name(), message);
}

/// Reports a jump. `outcome`: the consequence, unless jumps are refused.
void JumpReader::report(const std::string& what, const char* outcome) {
  if (order_.policy == JumpPolicy::refuse) refuse(what + ". " + JumpMessage(order_, nullptr).remedies());
  if (++jumps_ <= kReported && !order_.quiet) log::error("{}: {}; {}", name(), what, outcome);
}

void JumpReader::refuse(const std::string& what) const { throw UserError("'" + name() + "': " + what); }

void JumpReader::refuse_era(std::uint64_t hit) const {
  throw UserError(fmt::format("'{}': hit {} would come later than 2^64 ticks with jumps=new-era", name(), hit));
}

SourceCounts JumpReader::counts() const {
  auto counts = reader_->counts();
  counts.counters[Metric::jumps] += jumps_;
  auto& step = counts.counters[Metric::step_back_ns];
  step = std::max(step, ns_of(largest_step_, order_.tick_ps));
  return counts;
}

}  // namespace eventloom
