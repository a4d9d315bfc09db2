#pragma once

#include <cstdint>
#include <optional>

#include "formats/payload_kind.hpp"
#include "formats/units.hpp"

namespace eventloom {

__extension__ using WideWhole = __int128;

/// The words of a number in a payload column of `kind`, the first one in the low 32 bits; std::nullopt if the kind
/// cannot hold the number exactly. `number` must have at most 100 binary digits.
std::optional<std::uint64_t> payload_bits(WideWhole number, PayloadKind kind);

/// Likewise for a number that may be a fraction; NaN is a number of f32 and f64. With Rounding::nearest, f32 holds the
/// number next to it.
std::optional<std::uint64_t> payload_bits(double number, PayloadKind kind, Rounding rounding = Rounding::none);

}  // namespace eventloom
