#include "formats/hld.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace eventloom {

namespace {

static_assert(std::endian::native == std::endian::little,
              "the byte orders below can be distinguished only on little-endian hosts");

/// A larger decoding indicates reversed bytes.
constexpr std::uint32_t kMaxDecoding = 0xffffff;

inline std::uint16_t reversed(std::uint16_t word) { return __builtin_bswap16(word); }
inline std::uint32_t reversed(std::uint32_t word) { return __builtin_bswap32(word); }
inline std::uint64_t reversed(std::uint64_t word) { return __builtin_bswap64(word); }

/// The `n` words of a header in native order; std::nullopt if the second word, the decoding, shows no byte order.
template <std::size_t n>
std::optional<std::array<std::uint32_t, n>> header_words(std::span<const std::byte> bytes, bool& big_endian) {
  std::array<std::uint32_t, n> words;
  if (bytes.size() < sizeof words) return std::nullopt;
  std::memcpy(words.data(), bytes.data(), sizeof words);
  big_endian = words[1] > kMaxDecoding;
  if (!big_endian) return words;
  for (auto& word : words) word = reversed(word);
  if (words[1] > kMaxDecoding) return std::nullopt;
  return words;
}

/// The compiler vectorises this loop.
template <class Word>
[[gnu::always_inline]] inline void reverse_words(const std::byte* __restrict in, std::size_t n,
                                                 std::byte* __restrict out) {
  for (std::size_t i = 0; i < n; ++i) {
    Word word;
    std::memcpy(&word, in + i * sizeof word, sizeof word);
    word = reversed(word);
    std::memcpy(out + i * sizeof word, &word, sizeof word);
  }
}

void reverse_words_32(const std::byte* in, std::size_t n, std::byte* out) { reverse_words<std::uint32_t>(in, n, out); }

#if defined(__x86_64__)
// Baseline x86-64 cannot shuffle bytes; AVX2 can, five times as fast.
[[gnu::target("avx2")]] void reverse_words_32_avx2(const std::byte* in, std::size_t n, std::byte* out) {
  reverse_words<std::uint32_t>(in, n, out);
}
const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
#else
constexpr bool has_avx2 = false;
constexpr auto reverse_words_32_avx2 = reverse_words_32;
#endif

}  // namespace

std::optional<HldEventHeader> read_hld_event_header(std::span<const std::byte> bytes) {
  bool big_endian = false;
  const auto words = header_words<kHldEventHeaderBytes / 4>(bytes, big_endian);
  if (!words) return std::nullopt;
  const auto& w = *words;
  return HldEventHeader{w[0], w[1], w[2], w[3], w[4], w[5], w[6], big_endian};
}

std::optional<HldSubeventHeader> read_hld_subevent_header(std::span<const std::byte> bytes) {
  bool big_endian = false;
  const auto words = header_words<kHldSubeventHeaderBytes / 4>(bytes, big_endian);
  if (!words) return std::nullopt;
  const auto& w = *words;
  return HldSubeventHeader{w[0], w[1], w[2], w[3], big_endian};
}

std::optional<std::uint32_t> read_hld_size(std::span<const std::byte> bytes) {
  bool big_endian = false;
  const auto words = header_words<2>(bytes, big_endian);
  return words ? std::optional((*words)[0]) : std::nullopt;
}

void copy_hld_reversed(std::span<const std::byte> data, std::size_t word_bytes, std::byte* out) {
  const std::size_t words = data.size() / word_bytes;
  if (word_bytes == 8) reverse_words<std::uint64_t>(data.data(), words, out);
  if (word_bytes == 4) (has_avx2 ? reverse_words_32_avx2 : reverse_words_32)(data.data(), words, out);
  if (word_bytes == 2) reverse_words<std::uint16_t>(data.data(), words, out);
  const std::size_t done = word_bytes == 1 ? 0 : words * word_bytes;
  if (done < data.size()) std::memcpy(out + done, data.data() + done, data.size() - done);
}

}  // namespace eventloom
