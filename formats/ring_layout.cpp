#include "formats/ring_layout.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t joined(std::uint64_t low, std::uint64_t high) { return low | high << 32; }

/// Keeps the compiler from merging this word with its neighbours into one wide load: a wide load of data written by
/// narrow stores waits until these leave the core's store buffer, which takes longer than the rest of sending a small
/// message.
std::uint64_t alone(std::uint64_t word) {
  asm("" : "+r"(word));
  return word;
}

using Words = std::array<std::uint64_t, ChunkHeader::kBytes / sizeof(std::uint64_t)>;

}  // namespace

std::uint32_t CellDescriptor::checksum() const {
  std::array<std::uint64_t, 3> words = {joined(sequence, bytes), n_chunks, 0};
  std::memcpy(&words[2], first_header.data() + first_header.size() - sizeof words[2], sizeof words[2]);
  return crc32c_of_words(words);
}

std::uint32_t CreditBlock::checksum() const {
  const std::array<std::uint64_t, 3> words = {released, slice_limit, number};
  return crc32c_of_words(words);
}

void ChunkHeader::store(std::byte* to, std::uint32_t cell) const {
  const std::uint64_t flags = kind | std::uint64_t{has_more} << 16 | std::uint64_t{has_body_crc} << 24;
  Words words = {alone(slice),          alone(total_bytes),      alone(offset),
                 joined(bytes, origin), joined(flags, n_damage), body_crc};
  words.back() = joined(body_crc, crc32c_of_words(words) ^ cell);
  std::memcpy(to, words.data(), kBytes);
}

std::optional<ChunkHeader> ChunkHeader::load(const std::byte* from, std::uint32_t cell) {
  Words words;
  std::memcpy(words.data(), from, kBytes);
  const auto crc = static_cast<std::uint32_t>(words.back() >> 32);
  words.back() &= 0xffffffffU;
  if ((crc32c_of_words(words) ^ cell) != crc) return std::nullopt;
  ChunkHeader header;
  header.slice = words[0];
  header.total_bytes = words[1];
  header.offset = words[2];
  header.bytes = static_cast<std::uint32_t>(words[3]);
  header.origin = static_cast<std::uint32_t>(words[3] >> 32);
  header.kind = static_cast<std::uint16_t>(words[4]);
  header.has_more = static_cast<std::uint8_t>(words[4] >> 16);
  header.has_body_crc = static_cast<std::uint8_t>(words[4] >> 24);
  header.n_damage = static_cast<std::uint32_t>(words[4] >> 32);
  header.body_crc = static_cast<std::uint32_t>(words[5]);
  return header;
}

std::optional<Chunk> Cell::next() {
  const bool first = first_header_ != nullptr;
  if (!first && bytes_.size() - headers_at_ < ChunkHeader::kBytes) return std::nullopt;
  const auto header = ChunkHeader::load(first ? first_header_ : bytes_.data() + headers_at_, number_);
  const std::uint64_t bodies_end = left_ > 1 || !first ? headers_at_ : bytes_.size();
  if (!header || body_at_ > bodies_end || header->bytes > bodies_end - body_at_) return std::nullopt;
  const Chunk chunk{*header, bytes_.subspan(body_at_, header->bytes)};
  if (!first) headers_at_ += ChunkHeader::kBytes;
  first_header_ = nullptr;
  body_at_ += padded(header->bytes);
  --left_;
  return chunk;
}

}  // namespace eventloom
