#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/trb.hpp"

namespace eventloom::test {

using Bytes = std::vector<std::byte>;

inline void append_big_endian(std::uint32_t word, Bytes& out) {
  for (const unsigned shift : {24U, 16U, 8U, 0U}) out.push_back(static_cast<std::byte>(word >> shift & 0xffU));
}

/// A subevent with `words` words of data, padded.
inline Bytes subevent(std::uint32_t number, std::uint32_t words = 1, std::uint32_t tag = 0) {
  Bytes bytes;
  for (const auto word : {16 + 4 * words, 0x00020011U, 0x8000U, number << kTrbTagBits | tag})
    append_big_endian(word, bytes);
  for (std::uint32_t i = 0; i < words; ++i) append_big_endian(number + i, bytes);
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return bytes;
}

inline Bytes datagram(const Bytes& subevents) {
  Bytes bytes;
  append_trb_datagram(subevents, bytes);
  return bytes;
}

}  // namespace eventloom::test
