#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace eventloom {

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4) of `bytes`; "123456789" gives 0xe3069283. To continue a previous
/// checksum, pass its result as `seed`.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed = 0);

/// The same for a few words, each taken as 8 bytes in little-endian order. Meant for the small headers of messages: it
/// reads words as they were written, whereas the wide loads of crc32c() would have to wait until narrow stores leave
/// the core.
std::uint32_t crc32c_of_words(std::span<const std::uint64_t> words);

/// CRC-32 as computed by gzip and zlib; "123456789" gives 0xcbf43926. Meant for data that other programs check, since
/// Python's standard library has it. To continue a previous checksum, pass its result as `seed`.
std::uint32_t crc32_of_zlib(std::span<const std::byte> bytes, std::uint32_t seed = 0);

}  // namespace eventloom
