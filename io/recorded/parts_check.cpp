#include "io/recorded/parts_check.hpp"

#include <algorithm>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "io/recorded/clock_turns.hpp"

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
  if (!any && !std::exchange(compared_, true)) compare();
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
  if (apart(next_first_, extent->greatest, extent->period) > near) return;
  const auto what = fmt::format(
      "the next source begins with {}, where the counter of this one ends: if they are files of one recording, join "
      "them with concat",
      next_first_);
  // Two detectors begin together, though few hits may lie far apart.
  if (apart(next_first_, extent->first, extent->period) > spacing * kSpacings) {
    throw UserError(fmt::format("'{}': {}; otherwise say in which turn each begins, turns=0", name(), what));
  }
  log::warn("{}: {}", name(), what);
}

}  // namespace eventloom
