#include "io/recorded/jump_message.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include "core/runtime/format.hpp"
#include "formats/duration_text.hpp"

namespace eventloom {

namespace {

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

/// The next of 1, 2 and 5 times a power of ten picoseconds, which options take as a round length.
Tick rounded_up(Tick ticks, std::uint64_t tick_ps) {
  const double ps = static_cast<double>(ticks.value) * static_cast<double>(tick_ps);
  const double power = std::pow(10, std::floor(std::log10(ps)));
  for (const double digit : {1.0, 2.0, 5.0, 10.0}) {
    const double round = std::ceil(digit * power / static_cast<double>(tick_ps));
    if (round >= 0x1p63) break;
    if (round >= static_cast<double>(ticks.value)) return Tick(static_cast<std::uint64_t>(round));
  }
  return ticks;
}

}  // namespace

std::string JumpMessage::ahead(NumberedHit hit, Tick by) const {
  return fmt::format("{} is {} ahead of the next one and of all before it (a damaged time?)", place(hit), length(by));
}

std::string JumpMessage::step(NumberedHit hit, NumberedHit before) const {
  return fmt::format("{} lies {} before {}", place(hit), length(before.time - hit.time), place(before));
}

std::string JumpMessage::jump(NumberedHit hit, NumberedHit before) const {
  return step(hit, before) + ": its clock wrapped around or was reset, or a second measurement follows" +
         counter(before.time, hit.time);
}

/// A counter whose turn explains the step; empty if there is none.
std::string JumpMessage::counter(Tick from, Tick to) const {
  const auto ps = static_cast<double>((from - to).value) * static_cast<double>(order_.tick_ps);
  const auto known = turned_counter(ps, order_.tick_ps);
  const unsigned turned = watch_ == nullptr ? 0 : watch_->turned(from, to).value_or(0);
  if (!known && turned == 0) return "";
  const auto bits = known ? static_cast<unsigned>(known->first) : turned;
  auto text = known ? fmt::format(" (nearly 2^{} {}", bits, known->second)
                    : fmt::format(" (from near 2^{} to near 0 in units of {}", bits, watch_->clock().unit);
  text += fmt::format(": a counter of {} bits?", bits);
  return text + (turned == 0 ? ")" : fmt::format(" Then bits={})", turned));
}

std::string JumpMessage::disorder(NumberedHit hit, NumberedHit before, Tick farthest) const {
  return step(hit, before) + ", among hits before it. " + order_of(farthest);
}

std::string JumpMessage::no_order(NumberedHit hit, NumberedHit before, Tick farthest) const {
  return step(hit, before) + ", and hits behind it go back, too: they are in no order of time. " + order_of(farthest);
}

/// Advice on hits that go back by up to `farthest`.
std::string JumpMessage::order_of(Tick farthest) const {
  return fmt::format("Only hits within {} are put in order: reorder={} puts these in order, which go back by up to {}",
                     length(order_.disorder), length(rounded_up(farthest, order_.tick_ps)), length(farthest));
}

std::string JumpMessage::number_back(NumberedHit hit, NumberedHit before) const {
  auto text = fmt::format("hit {} has number {}, and hit {} before it {}: event numbers do not go back", hit.number,
                          hit.time.value, before.number, before.time.value);
  if (order_.has_bits && !order_.unwraps) {
    const unsigned bits = watch_ == nullptr ? 0 : watch_->turned(before.time, hit.time).value_or(0);
    text += bits == 0 ? "; bits=N if they wrap around after N bits, modulus=M if after M"
                      : fmt::format("; bits={0} if they wrap around after {0} bits", bits);
  }
  if (order_.unwraps) text += " (or are more than half a turn of the counter missing?)";
  return text + ", reorder=N if some come late by up to N hits";
}

std::string JumpMessage::short_restart(Tick before, bool recur) const {
  return fmt::format(
      "after {} times go back to where they began, {}: if the clock was reset or a second measurement follows, "
      "jumps=new-era continues the time, with a reorder= shorter than the first; reorder={} says that the hits are of "
      "one time",
      length(before),
      recur ? "in channels that had hits before, and the parts would lie on each other"
            : "in other channels, and the hits behind are sorted into those before, as all within " +
                  length(order_.disorder) + " are",
      length(order_.disorder));
}

std::string JumpMessage::turn(const TurnWatch::Turn& turn) const {
  const auto& unit = watch_->clock().unit;
  return fmt::format(
      "times go back from {} to {}, from near 2^{} to near {} in units of {}, and none is beyond: a counter of {} bits "
      "that wraps around? bits={} unwraps it; bits=none says that the hits are out of order, which are then sorted",
      length(turn.from), length(turn.to), turn.is_signed ? turn.bits - 1 : turn.bits,
      turn.is_signed ? fmt::format("-2^{}", turn.bits - 1) : "0", unit, turn.bits, turn.bits);
}

std::string JumpMessage::remedies() const {
  auto text = "Only hits within " + length(order_.disorder) +
              " are put in order, nothing across such a jump: jumps=new-era continues the time after the last hit, "
              "jumps=drop drops hits that go back";
  if (order_.has_bits && !order_.unwraps) {
    text += ", bits=N unwraps a counter of N bits, modulus=M a counter that turns after M";
  }
  return text;
}

std::string JumpMessage::place(NumberedHit hit) const {
  return fmt::format("hit {} at {}", hit.number, length(hit.time));
}

std::string JumpMessage::length(Tick ticks) const { return duration_text(ticks, order_.tick_ps); }

}  // namespace eventloom
