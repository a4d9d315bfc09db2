#include "io/recorded/jump_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "formats/duration_text.hpp"
#include "io/recorded/block_losses.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kFarthestPs = 1'000'000'000'000;  ///< 1 s: limit for frames and hits of a pulse that go back
constexpr std::uint64_t kReported = 3;                    ///< jumps reported individually per source

/// Width and unit of a counter that wraps around after about `ps` and counts ps, ns, us or ms, not finer than a tick;
/// std::nullopt if no counter matches.
std::optional<std::pair<int, const char*>> turned_counter(double ps, std::uint64_t tick_ps) {
  constexpr double kNear = 0.005;  // tolerance, relative to the period
  constexpr int kNarrowest = 16;
  constexpr std::pair<double, const char*> kSteps[] = {{1, "ps"}, {1e3, "ns"}, {1e6, "us"}, {1e9, "ms"}};
  for (const auto& [step_ps, unit] : kSteps) {
    const double bits = std::log2(ps / step_ps);
    const double whole = std::round(bits);
    const bool finer = step_ps < static_cast<double>(tick_ps);
    if (!finer && whole >= kNarrowest && whole <= 63 && std::abs(std::exp2(bits - whole) - 1) < kNear) {
      return std::pair(static_cast<int>(whole), unit);
    }
  }
  return std::nullopt;
}

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
  return true;
}

void JumpReader::widen() {
  if (order_.stated) return;
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
    const bool fits = covered_ && covered_->take(time);
    if (!foremost_ || time >= foremost_->time) {
      take(time, hits_ + i + 1);
      behind_ = false;
    } else if (fits || is_ordinary(foremost_->time - time)) {
      note_step(foremost_->time - time);
      foremost_->leapt = false;
      behind_ = false;
    } else {
      step_back(block, i);
    }
    block.time[i] = in_era(time);
  }
}

/// Whether a step back from the foremost hit is ordinary disorder and stays in this era.
bool JumpReader::is_ordinary(Tick step) const {
  return step <= order_.disorder && step <= foremost_->time + added_ - era_begin_;
}

/// Takes a hit that is not before any other.
void JumpReader::take(Tick time, std::uint64_t hit) {
  const bool leapt = !foremost_ || time - foremost_->time > order_.disorder;
  const auto before = foremost_ ? std::optional(foremost_->time) : std::nullopt;
  foremost_ = Foremost{time, hit, leapt, before};
}

void JumpReader::step_back(HitBlock& block, std::size_t i) {
  const Tick time = block.time[i];
  const auto hit = hits_ + i + 1;
  const auto [ahead, ahead_hit, leapt, before] = *foremost_;
  note_step(ahead - time);
  if (leapt && (!before || time + order_.disorder >= *before)) {
    report(fmt::format("{} is {} ahead of the next one and of all before it (a damaged time?)", place(ahead_hit, ahead),
                       length(ahead - time)),
           "it is dropped");
    leave_out_leap(block, ahead_hit);
    foremost_->time = std::max(time, before.value_or(time));
    foremost_->hit = hit;
    foremost_->leapt = false;
    return;
  }
  if (behind_) return drop(i);
  report(fmt::format("{} lies {} before {}: {}", place(hit, time), length(ahead - time), place(ahead_hit, ahead),
                     meaning(ahead - time)),
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

/// Begins an era: time continues one length of disorder after the last hit, so that hits slightly out of order after
/// the jump stay after it.
void JumpReader::begin_era(Tick time, std::uint64_t hit) {
  const Tick end = in_era(foremost_->time);
  const Tick pause = std::max<Tick>(order_.disorder, 1);
  if (end > std::numeric_limits<Tick>::max() - 2 * pause) refuse_era(hit);
  era_begin_ = end + 1;
  added_ = end + pause + 1 - time;
  foremost_ = Foremost{time, hit, false, std::nullopt};
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
  if (!std::exchange(summed_up_, true) && jumps_ > kReported) {
    log::error("{}: times jump {} times in all", name(), jumps_);
  }
  return false;
}

/// Reports a jump. `outcome`: the consequence, unless jumps are refused.
void JumpReader::report(const std::string& what, const char* outcome) {
  if (order_.policy == JumpPolicy::refuse) refuse(what);
  if (++jumps_ <= kReported) log::error("{}: {}; {}", name(), what, outcome);
}

void JumpReader::refuse(const std::string& what) const {
  throw UserError("'" + name() + "': " + what + ". Only hits within " + length(order_.disorder) +
                  " are put in order, nothing across such a jump: " + remedies());
}

void JumpReader::refuse_era(std::uint64_t hit) const {
  throw UserError(fmt::format("'{}': hit {} would come later than 2^64 ticks with jumps=new-era", name(), hit));
}

std::string JumpReader::meaning(Tick step) const {
  std::string text = "its clock wrapped around or was reset, or a second measurement follows";
  const auto counter = turned_counter(static_cast<double>(step) * static_cast<double>(order_.tick_ps), order_.tick_ps);
  if (counter) text += fmt::format(" (nearly 2^{0} {1}: a counter of {0} bits?)", counter->first, counter->second);
  return text;
}

std::string JumpReader::remedies() const {
  std::string text = "jumps=new-era continues the time after the last hit, jumps=drop drops hits that go back";
  if (order_.has_bits && !order_.unwraps) text += ", bits=N unwraps a counter of N bits";
  return text;
}

std::string JumpReader::place(std::uint64_t hit, Tick time) const {
  return fmt::format("hit {} at {}", hit, length(time));
}

std::string JumpReader::length(Tick ticks) const { return duration_text(ticks, order_.tick_ps); }

SourceCounts JumpReader::counts() const {
  auto counts = reader_->counts();
  counts.counters[Metric::jumps] += jumps_;
  auto& step = counts.counters[Metric::step_back_ns];
  step = std::max(step, ns_of(largest_step_, order_.tick_ps));
  return counts;
}

}  // namespace eventloom
