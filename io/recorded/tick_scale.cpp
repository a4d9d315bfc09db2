#include "io/recorded/tick_scale.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

__extension__ using Wide = unsigned __int128;
constexpr auto kMaxTick = std::numeric_limits<Tick>::max();

constexpr auto kPowers = [] {
  std::array<std::uint64_t, 20> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

}  // namespace

TickScale::TickScale(const SourceUri& uri, std::uint64_t tick_ps)
    : unit_(uri.get("unit", "ns")),
      unit_ps_(uri.get_unit_ps("unit", tick_ps)),
      tick_ps_(tick_ps),
      factor_(unit_ps_ % tick_ps_ == 0 ? unit_ps_ / tick_ps_ : 0) {
  const auto round = uri.get("round", "");
  if (round == "down") rounding_ = Rounding::down;
  if (round == "nearest") rounding_ = Rounding::nearest;
  if (!round.empty() && rounding_ == Rounding::none) {
    uri.refuse("round=" + round + " is not known; there are down and nearest");
  }
}

std::optional<Tick> TickScale::ticks(Decimal value) const {
  // The common case, in 64 bits.
  std::uint64_t product = 0;
  if (factor_ != 0 && value.exponent <= 0 && value.exponent > -static_cast<int>(kPowers.size()) &&
      !__builtin_mul_overflow(value.digits, factor_, &product)) {
    const auto power = kPowers[static_cast<std::size_t>(-value.exponent)];
    if (product % power == 0) return product / power;
  }
  if (rounding_ == Rounding::none) return to_ticks(value, unit_ps_, tick_ps_);
  return rounded(value);
}

std::optional<Tick> TickScale::rounded(Decimal value) const {
  if (value.digits == 0) return 0;
  Wide above = Wide{value.digits} * unit_ps_;
  Wide below = tick_ps_;
  for (; value.exponent > 0; --value.exponent) {
    if (above > ~Wide{0} / 10) return std::nullopt;
    above *= 10;
  }
  for (; value.exponent < 0; ++value.exponent) {
    if (below > ~Wide{0} / 10) return 0;  // `above` is far smaller: below 2^108
    below *= 10;
  }
  const Wide rest = above % below;
  const bool up = rounding_ == Rounding::nearest && rest >= below - rest;
  const Wide ticks = above / below + (up ? 1 : 0);
  if (ticks > kMaxTick) return std::nullopt;
  return static_cast<Tick>(ticks);
}

std::optional<Tick> TickScale::ticks(double value) const {
  constexpr double kSlack = 1e-6;
  const double ticks = factor_ != 0 ? value * static_cast<double>(factor_)
                                    : value * static_cast<double>(unit_ps_) / static_cast<double>(tick_ps_);
  if (!(ticks > -kSlack && ticks < 0x1p64)) return std::nullopt;
  const double nearest = std::round(ticks);
  if (nearest >= 0x1p64) return std::nullopt;
  if (std::abs(ticks - nearest) <= kSlack || rounding_ == Rounding::nearest) return static_cast<Tick>(nearest);
  if (rounding_ == Rounding::none) return std::nullopt;
  return static_cast<Tick>(ticks);
}

std::string TickScale::complaint(const std::string& value) const {
  std::string text = "the time " + value;
  if (unit_ != "tick") text += " " + unit_;
  text += " is not a whole number, below 2^64, of ticks of " + std::to_string(tick_ps_) + " ps";
  if (rounding_ != Rounding::none) return text;
  return text + ": choose a finer --tick, or add round=down or round=nearest to the source";
}

}  // namespace eventloom
