#include "io/hdf5/chunk_filters.hpp"

#include <zlib.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#ifdef EVENTLOOM_HAS_ISAL
#include <isa-l/igzip_lib.h>
#endif

#include "core/runtime/format.hpp"
#include "formats/fletcher32.hpp"

namespace eventloom {

namespace {

/// HDF5 sums up an odd last byte as if a zero followed.
std::uint32_t checksum_of(std::span<const std::byte> bytes) {
  Fletcher32 sum;
  const auto even = bytes.size() / 2 * 2;
  sum.add(bytes.first(even));
  if (even != bytes.size()) sum.add(std::array{bytes.back(), std::byte{}});
  return sum.value();
}

/// A width that is known to the compiler becomes vector instructions.
template <std::size_t width>
void shuffle_values(const std::byte* values, std::size_t n, std::byte* out) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t b = 0; b < width; ++b) out[b * n + i] = values[i * width + b];
  }
}

template <std::size_t width>
void unshuffle_values(const std::byte* bytes, std::size_t n, std::byte* values) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t b = 0; b < width; ++b) values[i * width + b] = bytes[b * n + i];
  }
}

void shuffle(std::span<const std::byte> values, std::size_t width, std::byte* out) {
  const auto n = values.size() / width;
  switch (width) {
    case 2: return shuffle_values<2>(values.data(), n, out);
    case 4: return shuffle_values<4>(values.data(), n, out);
    case 8: return shuffle_values<8>(values.data(), n, out);
    default: std::memcpy(out, values.data(), values.size());
  }
}

void unshuffle(const std::byte* bytes, std::size_t width, std::span<std::byte> values) {
  const auto n = values.size() / width;
  switch (width) {
    case 2: return unshuffle_values<2>(bytes, n, values.data());
    case 4: return unshuffle_values<4>(bytes, n, values.data());
    case 8: return unshuffle_values<8>(bytes, n, values.data());
    default: std::memcpy(values.data(), bytes, values.size());
  }
}

std::size_t deflate_by_zlib(std::span<const std::byte> bytes, unsigned level, std::span<std::byte> out) {
  uLongf size = out.size();
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
                static_cast<int>(level)) != Z_OK) {
    throw std::logic_error("zlib does not deflate a chunk");
  }
  return size;
}

}  // namespace

std::string wrong_checksum(std::uint32_t expected, std::uint32_t found) {
  return fmt::format("its checksum is wrong: {:08x} was expected, not {:08x}", expected, found);
}

struct ChunkPacker::State {
  std::size_t width;
  unsigned level;
  std::vector<std::byte> shuffled;
  std::vector<std::byte> stored;
#ifdef EVENTLOOM_HAS_ISAL
  isal_zstream stream;
  std::vector<std::uint8_t> matches = std::vector<std::uint8_t>(ISAL_DEF_LVL1_DEFAULT);

  std::size_t deflate_fast(std::span<std::byte> out) {
    isal_deflate_stateless_init(&stream);
    stream.gzip_flag = IGZIP_ZLIB;
    stream.level = 1;
    stream.level_buf = matches.data();
    stream.level_buf_size = static_cast<std::uint32_t>(matches.size());
    stream.next_in = reinterpret_cast<std::uint8_t*>(shuffled.data());
    stream.avail_in = static_cast<std::uint32_t>(shuffled.size());
    stream.end_of_stream = 1;
    stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream.avail_out = static_cast<std::uint32_t>(out.size());
    if (isal_deflate_stateless(&stream) != COMP_OK) throw std::logic_error("ISA-L does not deflate a chunk");
    return stream.total_out;
  }
#else
  std::size_t deflate_fast(std::span<std::byte> out) const { return deflate_by_zlib(shuffled, level, out); }
#endif
};

ChunkPacker::ChunkPacker(std::size_t width, unsigned level) : state_(std::make_unique<State>()) {
  state_->width = width;
  state_->level = level;
}
ChunkPacker::~ChunkPacker() = default;
ChunkPacker::ChunkPacker(ChunkPacker&&) noexcept = default;
ChunkPacker& ChunkPacker::operator=(ChunkPacker&&) noexcept = default;

std::span<const std::byte> ChunkPacker::pack(std::span<const std::byte> values) {
  auto& stored = state_->stored;
  state_->shuffled.resize(values.size());
  stored.resize(compressBound(values.size()) + kChunkChecksum);
  shuffle(values, state_->width, state_->shuffled.data());
  const auto out = std::span(stored).first(stored.size() - kChunkChecksum);
  const auto size =
      state_->level == 1 ? state_->deflate_fast(out) : deflate_by_zlib(state_->shuffled, state_->level, out);
  const auto checksum = checksum_of(out.first(size));
  std::memcpy(stored.data() + size, &checksum, kChunkChecksum);
  return std::span(stored).first(size + kChunkChecksum);
}

struct ChunkUnpacker::State {
  std::size_t width;
  std::vector<std::byte> shuffled;

#ifdef EVENTLOOM_HAS_ISAL
  inflate_state inflating;

  /// Whether the bytes are a whole deflated chunk.
  bool inflate(std::span<const std::byte> bytes) {
    isal_inflate_init(&inflating);
    inflating.crc_flag = ISAL_ZLIB;
    inflating.next_in = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(bytes.data()));
    inflating.avail_in = static_cast<std::uint32_t>(bytes.size());
    inflating.next_out = reinterpret_cast<std::uint8_t*>(shuffled.data());
    inflating.avail_out = static_cast<std::uint32_t>(shuffled.size());
    return isal_inflate(&inflating) == ISAL_DECOMP_OK && inflating.block_state == ISAL_BLOCK_FINISH &&
           inflating.avail_out == 0;
  }
#else
  bool inflate(std::span<const std::byte> bytes) {
    uLongf size = shuffled.size();
    return uncompress(reinterpret_cast<Bytef*>(shuffled.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                      bytes.size()) == Z_OK &&
           size == shuffled.size();
  }
#endif
};

ChunkUnpacker::ChunkUnpacker(std::size_t width) : state_(std::make_unique<State>()) { state_->width = width; }
ChunkUnpacker::~ChunkUnpacker() = default;
ChunkUnpacker::ChunkUnpacker(ChunkUnpacker&&) noexcept = default;
ChunkUnpacker& ChunkUnpacker::operator=(ChunkUnpacker&&) noexcept = default;

std::string ChunkUnpacker::unpack(std::span<const std::byte> stored, bool deflated, std::span<std::byte> values) {
  if (stored.size() < kChunkChecksum) return "it is shorter than its checksum";
  std::uint32_t expected = 0;
  const auto bytes = stored.first(stored.size() - kChunkChecksum);
  std::memcpy(&expected, stored.data() + bytes.size(), kChunkChecksum);
  if (const auto sum = checksum_of(bytes); sum != expected) return wrong_checksum(expected, sum);
  if (!deflated) {
    if (bytes.size() != values.size()) return "it has the wrong size";
    unshuffle(bytes.data(), state_->width, values);
    return "";
  }
  state_->shuffled.resize(values.size());
  if (!state_->inflate(bytes)) return "it is no deflated chunk of the right size";
  unshuffle(state_->shuffled.data(), state_->width, values);
  return "";
}

}  // namespace eventloom
