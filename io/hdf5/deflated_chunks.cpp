#include "io/hdf5/deflated_chunks.hpp"

#include <hdf5.h>

#include <algorithm>
#include <utility>

namespace eventloom {

namespace {

/// The second filter may be left out of a chunk that would grow.
constexpr unsigned kNotDeflated = 2;

/// HDF5's filter reserves no more for a deflated chunk, and ours grows by less: see compressBound() of zlib.
std::uint64_t most_stored(std::uint64_t bytes) { return bytes + bytes / 1000 + 100; }

}  // namespace

DeflatedChunks::DeflatedChunks(StoredChunks chunks) : chunks_(std::move(chunks)), unpacker_(chunks_.width()) {}

std::optional<DeflatedChunks> DeflatedChunks::of(hid_t file, hid_t dataset, hid_t type, std::uint64_t rows,
                                                 std::string name) {
  if (!has_chunks(dataset, type, {H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE, H5Z_FILTER_FLETCHER32})) return std::nullopt;
  return DeflatedChunks(StoredChunks(file, dataset, rows, std::move(name)));
}

std::uint64_t DeflatedChunks::read(std::uint64_t row, std::uint64_t n, std::span<std::byte> buffer) {
  const auto chunk = row / chunks_.chunk_rows();
  if (chunk_ != chunk) enter(chunk);
  const auto first = row - chunk * chunks_.chunk_rows();
  const auto rows =
      std::min({n, chunks_.chunk_rows() - first, chunks_.rows() - row, std::uint64_t{buffer.size() / chunks_.width()}});
  std::ranges::copy(std::span(values_).subspan(first * chunks_.width(), rows * chunks_.width()), buffer.begin());
  return rows;
}

void DeflatedChunks::enter(std::uint64_t chunk) {
  chunk_.reset();
  const auto place = chunks_.place_of(chunk);
  if ((place.left_out & ~kNotDeflated) != 0 || place.bytes > most_stored(chunks_.chunk_bytes())) {
    chunks_.fail_in_chunk(chunk, "it is not stored as its filters would store it");
  }
  stored_.resize(place.bytes);
  chunks_.read(place.address, stored_);
  values_.resize(chunks_.chunk_bytes());
  const auto wrong = unpacker_.unpack(stored_, place.left_out == 0, values_);
  if (!wrong.empty()) chunks_.fail_in_chunk(chunk, wrong);
  chunk_ = chunk;
}

}  // namespace eventloom
