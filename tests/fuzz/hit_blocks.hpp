#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz_input.hpp"
#include "io/files/file_reader.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom::fuzz {

/// Checks a block of a reader whose hits have `words` payload words each, from a file of this many bytes.
inline void check(const HitBlock& block, std::size_t words, std::uint64_t file_bytes) {
  require(block.size() != 0 || !block.losses.empty(), "a block is not empty");
  require(block.channel.size() == block.size(), "the columns have equal lengths");
  require(block.payload.size() == block.size() * words, "every hit has its payload");
  for (const auto channel : block.channel) require(channel <= 0x0fffffff, "a channel has 28 bits");
  std::size_t before = 0;
  for (const auto& loss : block.losses) {
    require(loss.before >= before && loss.before <= block.size(), "losses are in the order of the file");
    require(loss.offset <= file_bytes, "losses lie in the file");
    before = loss.before;
  }
}

/// Offsets in a file refer to its contents, unpacked if they are compressed.
inline std::uint64_t unpacked_bytes(const std::string& path) { return FileReader(path).size(); }

/// Hits that a reader returns until its end, and those that it lost.
struct HitCount {
  std::uint64_t hits = 0;
  std::uint64_t lost = 0;
};

inline HitCount read_all(HitReader& reader, std::uint64_t file_bytes) {
  const std::size_t words = reader.header().payload.words.front();
  HitBlock block;
  HitCount count;
  while (reader.read(block)) {
    check(block, words, file_bytes);
    count.hits += block.size();
    for (const auto& loss : block.losses) count.lost += loss.hits;
  }
  return count;
}

}  // namespace eventloom::fuzz
