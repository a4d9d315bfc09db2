#include "io/recorded/parts_check.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"

namespace eventloom {

namespace {

/// Distance of two numbers of a counter, the short way around.
std::uint64_t apart(std::uint64_t a, std::uint64_t b, std::uint64_t period) {
  const auto distance = (a > b ? a - b : b - a) % period;
  return std::min(distance, period - distance);
}

}  // namespace

bool PartsCheck::read(HitBlock& block) {
  const bool any = reader_->read(block);
  hits_ += block.size();
  if (any && block.size() != 0) {
    if (!first_) first_ = block.time.front();
    most_ = std::max(most_, *std::ranges::max_element(block.time));
  }
  if (!any && !std::exchange(compared_, true)) next_.stated ? compare() : compare_unstated();
  return any;
}

/// Within half a turn, the turns of both are right in either case.
void PartsCheck::compare() {
  const auto* const counter = reader_->counter();
  const auto extent = counter == nullptr ? std::nullopt : counter->extent();
  if (!extent || extent->greatest - extent->first < extent->period / 2) return;
  constexpr std::uint64_t kSpacings = 5;
  constexpr std::uint64_t kMostOfTurn = 32;
  const auto spacing = (extent->greatest - extent->first) / std::max<std::uint64_t>(hits_, 1) + 1;
  const auto near = std::min(spacing * kSpacings, extent->period / kMostOfTurn + 1);
  const auto next_first = next_.first();
  if (!next_first) return;
  // Two detectors begin together, though few hits may lie far apart.
  const auto begins_apart = apart(*next_first, extent->first, extent->period);
  if (apart(*next_first, extent->greatest, extent->period) > near) {
    if (begins_apart > std::max(spacing * kSpacings, extent->period / kMostOfTurn)) report_apart(*next_first, *extent);
    return;
  }
  const auto what = fmt::format(
      "the next source begins with {}, where the counter of this one ends: if they are files of one recording, join "
      "them with concat",
      *next_first);
  if (begins_apart > spacing * kSpacings) {
    throw UserError(fmt::format("'{}': {}; otherwise say in which turn each begins, turns=0", name(), what));
  }
  log::warn("{}: {}", name(), what);
}

/// The next source may be a file that was written after a pause: then its turn is guessed wrongly.
void PartsCheck::report_apart(std::uint64_t next_first, const ClockTurns::Extent& extent) const {
  log::warn(
      "{}: begins with {} of a counter that starts again at {}, and the next source with {}: they are taken to begin "
      "within half a turn. If they are files of one recording, join them with concat; turns=N says in which turn each "
      "begins",
      name(), extent.first % extent.period, extent.period, next_first);
}

/// Files of one counter that are cut at its turns all lie between 0 and 2^N.
void PartsCheck::compare_unstated() {
  constexpr std::uint64_t kFewest = 100;
  constexpr double kSpacings = 5;
  constexpr double kMostOfTurn = 32;
  constexpr unsigned kNarrowest = 16;
  constexpr unsigned kWidest = 48;
  const auto clock = reader_->raw_clock();
  if (!clock || hits_ < kFewest) return;
  const auto number = [&](std::uint64_t tick) { return (static_cast<double>(tick) - clock->zero) / clock->ticks; };
  const double most = number(most_.value);
  if (most < 1) return;
  const auto bits = static_cast<unsigned>(std::ilogb(most)) + 1;
  if (bits < kNarrowest || bits > kWidest) return;
  const double period = std::ldexp(1, static_cast<int>(bits));
  const double spacing = (most - number(first_->value)) / static_cast<double>(hits_) + 1;
  const double near = std::min(kSpacings * spacing, period / kMostOfTurn);
  if (period - most > near) return;
  const auto next = next_.first();
  if (!next || number(*next) > near || number(*next) < -1) return;
  log::warn(
      "{}: its times end near 2^{} in units of {}, none is beyond, and those of '{}' begin near 0: if they are files "
      "of "
      "one counter of {} bits, join them with concat and bits={}",
      name(), bits, clock->unit, next_.name, bits, bits);
}

}  // namespace eventloom
