#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace eventloom {

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4) of `bytes`; of "123456789" it is 0xe3069283.
/// Continues an earlier one when `seed` is that one's result.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed = 0);

}  // namespace eventloom
