#include "io/recorded/clock_unit.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace eventloom {

namespace {

constexpr int kMostDecimals = 12;

/// 1 + sign * drift; std::nullopt if `drift` has too many decimals or is not below 1 %.
std::optional<Decimal> rate_of(Decimal drift, bool negative) {
  drift = shortest(drift);
  if (drift.digits == 0) return Decimal{1, 0};
  if (drift.exponent < -kMostDecimals || drift.exponent >= -2) return std::nullopt;
  std::uint64_t one = 1;
  for (int i = drift.exponent; i < 0; ++i) one *= 10;
  if (drift.digits >= one / 100) return std::nullopt;
  return Decimal{negative ? one - drift.digits : one + drift.digits, drift.exponent};
}

}  // namespace

Decimal clock_rate(const SourceUri& uri) {
  constexpr int kPpb = -9;
  constexpr int kPpm = -6;
  if (!uri.has("drift")) return {1, 0};
  const auto text = uri.get("drift", "");
  std::string_view number = text;
  const bool negative = number.starts_with('-');
  if (negative || number.starts_with('+')) number.remove_prefix(1);
  const bool ppm = number.ends_with("ppm");
  if (ppm || number.ends_with("ppb")) {
    number.remove_suffix(3);
    if (auto value = parse_decimal(number)) {
      value->exponent += ppm ? kPpm : kPpb;
      if (const auto rate = rate_of(*value, negative)) return *rate;
    }
  }
  uri.refuse("drift=" + text + " is no change of a clock's rate: give ppb or ppm, such as drift=-1.5ppm, below 1 %");
}

TimeUnit clock_unit(const SourceUri& uri, std::string_view key, std::uint64_t tick_ps, Decimal scale) {
  constexpr std::uint64_t kMostDigits = std::uint64_t{1} << 62;  // times a time of 64 bits: 126 bits
  auto unit = uri.get_unit(key, tick_ps);
  for (const auto factor : {shortest(scale), clock_rate(uri)}) {
    if (__builtin_mul_overflow(unit.ps.digits, factor.digits, &unit.ps.digits) || unit.ps.digits > kMostDigits) {
      uri.refuse("the scale of the times has too many digits");
    }
    unit.ps.exponent += factor.exponent;
  }
  unit.ps = shortest(unit.ps);
  return unit;
}

std::string coarse_column(const SourceUri& uri) {
  auto column = uri.get("coarse", "");
  const bool has_unit = uri.has("coarse-unit");
  if (column.empty() && (has_unit || uri.has("coarse")))
    uri.refuse("'coarse=' is missing: the column of the coarse times");
  if (!column.empty() && !has_unit)
    uri.refuse("'coarse-unit=' is missing: the length of a step of coarse=, such as 25ns");
  return column;
}

}  // namespace eventloom
