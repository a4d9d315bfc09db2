#include "io/recorded/tick_scale.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/recorded/clock_unit.hpp"

namespace eventloom {

namespace {

[[noreturn]] void refuse_scale(const SourceUri& uri) { uri.refuse("the scale of the times has too many digits"); }

constexpr auto kPowers = [] {
  std::array<std::uint64_t, 20> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

Rounding rounding_of(const SourceUri& uri, Rounding otherwise) {
  const auto text = uri.get("round", "");
  if (text == "down") return Rounding::down;
  if (text == "nearest") return Rounding::nearest;
  if (!text.empty()) uri.refuse("round=" + text + " is not known; there are down and nearest");
  return otherwise;
}

}  // namespace

TickScale::TickScale(const SourceUri& uri, std::uint64_t tick_ps, Decimal scale)
    : TickScale(uri, uri.get("unit", "ns"), clock_unit(uri, "unit", tick_ps, scale), tick_ps,
                uri.has("drift") ? Rounding::nearest : Rounding::none) {}

TickScale::TickScale(const SourceUri& uri, Decimal unit_ps, std::uint64_t tick_ps, Rounding otherwise)
    : TickScale(uri, "ps", {unit_ps, 1}, tick_ps, otherwise) {}

TickScale::TickScale(const SourceUri& uri, std::string unit, const TimeUnit& length, std::uint64_t tick_ps,
                     Rounding otherwise)
    : unit_(std::move(unit)),
      unit_ps_(length.ps),
      tick_ps_(tick_ps),
      rounding_(rounding_of(uri, otherwise)),
      rounding_stated_(uri.has("round")) {
  if (__builtin_mul_overflow(tick_ps, length.divisor, &divisor_)) refuse_scale(uri);
  const auto ratio = TickRatio::of(unit_ps_, divisor_);
  if (!ratio) refuse_scale(uri);
  ratio_ = *ratio;
  factor_ = to_ticks({1, 0}, unit_ps_, divisor_, Rounding::none).value_or(0).value;
  reduce();
}

void TickScale::reduce() {
  const auto power = static_cast<std::size_t>(std::abs(unit_ps_.exponent));
  if (power >= kPowers.size()) return;
  std::uint64_t above = unit_ps_.digits;
  std::uint64_t below = divisor_;
  auto& scaled = unit_ps_.exponent < 0 ? below : above;
  if (__builtin_mul_overflow(scaled, kPowers[power], &scaled)) return;
  const auto common = std::gcd(above, below);
  above_ = above / common;
  below_ = below / common;
}

void TickScale::refuse_keys(const SourceUri& uri) {
  for (const char* key : {"unit", "round", "drift"}) {
    if (!uri.get(key, "").empty()) uri.refuse(std::string(key) + "= is not valid where times are event numbers");
  }
}

std::optional<Tick> TickScale::ticks(Decimal value) const {
  // Common case: 64-bit arithmetic.
  std::uint64_t product = 0;
  if (factor_ != 0 && value.exponent <= 0 && value.exponent > -static_cast<int>(kPowers.size()) &&
      !__builtin_mul_overflow(value.digits, factor_, &product)) {
    const auto power = kPowers[static_cast<std::size_t>(-value.exponent)];
    if (product % power == 0) return Tick(product / power);
  }
  return to_ticks(value, unit_ps_, divisor_, rounding_);
}

std::optional<Tick> TickScale::ticks(double value, unsigned bits) const {
  const auto fine = ratio_.fine(value);
  const auto ticks = fine ? whole(*fine, slack(spacing(value, bits))) : std::nullopt;
  if (!ticks || *ticks < 0 || *ticks > FineTicks{std::numeric_limits<std::uint64_t>::max()}) return std::nullopt;
  return Tick(static_cast<std::uint64_t>(*ticks));
}

double TickScale::slack(double spacing) const {
  constexpr double kLeast = 1e-6;
  constexpr double kMost = 0.25;  // still separates ticks from half ticks
  if (rounding_ == Rounding::down) return spacing <= kLeast ? kLeast : 0;
  return std::clamp(spacing / 2, kLeast, kMost);
}

std::optional<FineTicks> TickScale::whole(FineTicks time, double slack) const {
  const FineTicks below = time >> kFineBits;
  const FineTicks rest = time & (kFineTick - 1);
  if (rest == 0) return below;
  const bool up = rest >= kFineTick / 2;
  const FineTicks off = up ? kFineTick - rest : rest;
  const bool counts = static_cast<double>(off) <= slack * static_cast<double>(kFineTick);
  if (counts || rounding_ == Rounding::nearest) return below + (up ? 1 : 0);
  if (rounding_ == Rounding::none) return std::nullopt;
  return below;
}

bool TickScale::lacks_digits(Decimal value) const {
  if (rounding_stated_ || value.exponent <= 0 || value.digits == 0) return false;
  const auto last = to_ticks({1, value.exponent}, unit_ps_, divisor_, Rounding::nearest);
  return !last || *last > 1;
}

bool TickScale::lacks_precision(double value, unsigned bits) const {
  return !rounding_stated_ && spacing(value, bits) > 1;
}

bool TickScale::needs_rounding(Decimal value) const {
  return rounding_ == Rounding::none && to_ticks(value, unit_ps_, divisor_, Rounding::down) && !ticks(value);
}

RawClock TickScale::raw_clock(double zero) const {
  return {zero, to_double(unit_ps_) / static_cast<double>(divisor_), unit_};
}

std::string TickScale::in_words(const std::string& value) const {
  if (unit_ == "tick") return "the time " + value;
  const bool length = unit_.front() >= '0' && unit_.front() <= '9';
  return "the time " + value + (length ? " x " : " ") + unit_;
}

std::string TickScale::range_defect(const std::string& value) const {
  return in_words(value) + " is not below 2^64 ticks of " + std::to_string(tick_ps_) +
         " ps: say with origin= which time becomes tick 0, or choose a coarser --tick";
}

std::string TickScale::coarse_defect(double value, unsigned bits) const {
  constexpr double kPsPerNs = 1000;
  const auto tick_ns = static_cast<double>(tick_ps_) / kPsPerNs;
  return fmt::format(
      "{} has lost precision: numbers of its type are {:.4g} ns apart there, ticks {} ns; store the times as integers, "
      "or add round=nearest to the source to accept that",
      in_words(fmt::format("{}", value)), spacing(value, bits) * tick_ns, tick_ns);
}

std::string TickScale::defect(const std::string& value) const {
  auto text = in_words(value) + " is not a whole number, below 2^64, of ticks of " + std::to_string(tick_ps_) + " ps";
  if (rounding_ != Rounding::none) return text;
  return text + ": choose a finer --tick, or add round=down or round=nearest to the source";
}

}  // namespace eventloom
