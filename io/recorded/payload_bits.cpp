#include "io/recorded/payload_bits.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace eventloom {

namespace {

template <class Whole>
std::optional<std::uint64_t> as_word(WideWhole number) {
  using Limits = std::numeric_limits<Whole>;
  if (number < Limits::min() || number > Limits::max()) return std::nullopt;
  return static_cast<std::uint32_t>(number);
}

template <class Real>
std::optional<Real> as_real(WideWhole number) {
  const auto real = static_cast<Real>(number);
  return static_cast<WideWhole>(real) == number ? std::optional(real) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> payload_bits(WideWhole number, PayloadKind kind) {
  if (kind == PayloadKind::u32) return as_word<std::uint32_t>(number);
  if (kind == PayloadKind::i32) return as_word<std::int32_t>(number);
  if (kind == PayloadKind::f32) {
    const auto real = as_real<float>(number);
    return real ? std::optional<std::uint64_t>(std::bit_cast<std::uint32_t>(*real)) : std::nullopt;
  }
  const auto real = as_real<double>(number);
  return real ? std::optional(std::bit_cast<std::uint64_t>(*real)) : std::nullopt;
}

std::optional<std::uint64_t> payload_bits(double number, PayloadKind kind, Rounding rounding) {
  if (kind == PayloadKind::f64) return std::bit_cast<std::uint64_t>(number);
  if (kind == PayloadKind::f32) {
    const auto single = static_cast<float>(number);
    const bool exact = static_cast<double>(single) == number || std::isnan(number);
    return exact || rounding == Rounding::nearest ? std::optional<std::uint64_t>(std::bit_cast<std::uint32_t>(single))
                                                  : std::nullopt;
  }
  constexpr double kEnd = 0x1p33;
  const bool whole = std::abs(number) < kEnd && number == std::floor(number);
  return whole ? payload_bits(static_cast<WideWhole>(number), kind) : std::nullopt;
}

}  // namespace eventloom
