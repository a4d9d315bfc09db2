#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace eventloom {

/// Meaning of the words of a payload column.
enum class PayloadKind : std::uint8_t {
  u32,
  i32,  ///< two's complement
  f32,
  f64,  ///< two words, the low one first
};
inline constexpr std::array<std::string_view, 4> kPayloadKindNames = {"u32", "i32", "f32", "f64"};

constexpr std::string_view name_of(PayloadKind kind) { return kPayloadKindNames[static_cast<std::size_t>(kind)]; }
constexpr std::size_t words_of(PayloadKind kind) { return kind == PayloadKind::f64 ? 2 : 1; }

/// The number that a payload begins with, exactly; NaN if it is too short.
constexpr double payload_number(PayloadKind kind, std::span<const std::uint32_t> payload) {
  if (payload.size() < words_of(kind)) return std::numeric_limits<double>::quiet_NaN();
  switch (kind) {
    case PayloadKind::u32: return payload[0];
    case PayloadKind::i32: return std::bit_cast<std::int32_t>(payload[0]);
    case PayloadKind::f32: return std::bit_cast<float>(payload[0]);
    case PayloadKind::f64: break;
  }
  return std::bit_cast<double>(payload[0] | std::uint64_t{payload[1]} << 32);
}

/// The same for a hit of `source`. `kinds`: of the first payload column, indexed by source; u32 beyond the last.
constexpr double payload_number(std::span<const PayloadKind> kinds, std::uint16_t source,
                                std::span<const std::uint32_t> payload) {
  return payload_number(source < kinds.size() ? kinds[source] : PayloadKind::u32, payload);
}

}  // namespace eventloom
