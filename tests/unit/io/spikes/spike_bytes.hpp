#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Spike files composed byte by byte from the drawing in formats/spikes.hpp; shares no code with the encoder.
namespace eventloom::test {

using Bytes = std::vector<std::byte>;

inline void put(Bytes& out, std::uint64_t value, std::size_t n_bytes) {
  for (std::size_t i = 0; i < n_bytes; ++i) out.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
}

inline std::uint32_t bitwise_crc32c(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~0U;
  for (const auto byte : bytes) {
    crc ^= static_cast<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1U) != 0 ? 0x82f63b78U : 0U);
  }
  return ~crc;
}

inline void put_text(Bytes& out, const std::string& text) {
  for (const char c : text) out.push_back(static_cast<std::byte>(c));
}

inline Bytes file_header(std::uint64_t tick_ps, std::uint32_t channel_base, std::uint32_t version = 1) {
  Bytes tail;
  put(tail, tick_ps, 8);
  put(tail, channel_base, 4);
  put(tail, 0, 4);
  Bytes out;
  put_text(out, "\x89\x31SPIKE\n");
  put(out, version, 4);
  put(out, bitwise_crc32c(tail), 4);
  out.insert(out.end(), tail.begin(), tail.end());
  return out;
}

inline std::uint32_t spike(std::uint32_t delta, std::uint32_t label) { return delta << 16 | label; }
inline std::uint32_t overflow(std::uint32_t ticks) { return 0x80000000U | ticks; }

struct Packet {
  std::uint64_t sequence = 0;
  std::uint64_t start = 0;
  std::vector<std::uint32_t> entries;
  std::uint32_t n_spikes = 0;
};

inline Bytes to_bytes(const Packet& packet) {
  Bytes entries;
  for (const auto entry : packet.entries) put(entries, entry, 4);
  Bytes tail;
  put(tail, bitwise_crc32c(entries), 4);
  put(tail, packet.entries.size(), 4);
  put(tail, packet.n_spikes, 4);
  put(tail, 0, 4);
  put(tail, packet.sequence, 8);
  put(tail, packet.start, 8);
  Bytes out;
  put_text(out, "SPKT");
  put(out, bitwise_crc32c(tail), 4);
  out.insert(out.end(), tail.begin(), tail.end());
  out.insert(out.end(), entries.begin(), entries.end());
  return out;
}

inline Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

}  // namespace eventloom::test
