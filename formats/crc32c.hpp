#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace eventloom {

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4) of `bytes`; of "123456789" it is 0xe3069283. Continues a previous one
/// when `seed` is its result.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed = 0);

/// The same for a few words, each as its 8 bytes in little-endian order. For the small headers of every message: it
/// reads words as they were written, whereas the wide loads of crc32c() would have to wait for narrow stores to leave
/// the core.
std::uint32_t crc32c_of_words(std::span<const std::uint64_t> words);

/// CRC-32 as gzip and zlib compute it; of "123456789" it is 0xcbf43926. For data that others check: Python has it in
/// its standard library. Continues a previous one when `seed` is its result.
std::uint32_t crc32_of_zlib(std::span<const std::byte> bytes, std::uint32_t seed = 0);

}  // namespace eventloom
