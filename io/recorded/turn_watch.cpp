#include "io/recorded/turn_watch.hpp"

#include <algorithm>
#include <cmath>

namespace eventloom {

namespace {

constexpr unsigned kNarrowest = 16;
constexpr unsigned kWidest = 48;
constexpr double kNear = 0.125;  ///< a number this share of 2^N from an end of the counter is near it

}  // namespace

double TurnWatch::number(Tick time) const { return (static_cast<double>(time.value) - clock_.zero) / clock_.ticks; }

/// Bits of the narrowest counter that has all numbers so far. A rounded time may lie half a tick above its number.
unsigned TurnWatch::width(bool is_signed) const {
  constexpr double kRounded = 0.5;
  const double most = std::max(number(most_) - kRounded / clock_.ticks, 1.0);
  const auto bits = static_cast<unsigned>(std::ilogb(most)) + 1 + (is_signed ? 1 : 0);
  return std::max(bits, kNarrowest);
}

std::optional<unsigned> TurnWatch::turned(Tick from, Tick to) const {
  const double before = number(from);
  const double behind = number(to);
  const bool is_signed = behind < 0;
  const auto bits = width(is_signed);
  if (bits > kWidest) return std::nullopt;
  const double top = std::ldexp(1, static_cast<int>(is_signed ? bits - 1 : bits));
  const double bottom = is_signed ? -top : 0;
  const double near = kNear * top;
  const bool turns = before >= top - near && behind <= bottom + near && behind >= bottom - 1;
  return turns ? std::optional(bits) : std::nullopt;
}

void TurnWatch::step_back(Tick time) {
  constexpr double kLongest = 0.75;  // between this and kNear: too long for disorder near a turn, too short for a turn
  const auto bits = width(number(time) < 0);
  if (first_ && first_->bits != bits) {
    first_.reset();
    turns_ = others_ = 0;
  }
  const auto counter = turned(last_, time);
  if (counter) {
    ++turns_;
    if (!first_) first_ = Turn{*counter, number(time) < 0, last_, time};
    return;
  }
  const double share = std::ldexp(number(last_) - number(time), -static_cast<int>(bits));
  if (share > kNear && share < kLongest) ++others_;
}

std::optional<TurnWatch::Turn> TurnWatch::found(bool certain) const {
  constexpr std::uint64_t kCertain = 8;
  if (!first_ || first_->bits != width(first_->is_signed)) return std::nullopt;
  if (certain) return turns_ >= kCertain && others_ == 0 ? first_ : std::nullopt;
  return turns_ > others_ ? first_ : std::nullopt;
}

}  // namespace eventloom
