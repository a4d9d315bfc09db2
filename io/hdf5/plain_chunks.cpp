#include "io/hdf5/plain_chunks.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <utility>

#include "io/hdf5/chunk_filters.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kBlock = std::size_t{16} << 10;

}  // namespace

PlainChunks::PlainChunks(StoredChunks chunks) : chunks_(std::move(chunks)) {}

std::optional<PlainChunks> PlainChunks::of(hid_t file, hid_t dataset, hid_t type, std::uint64_t rows,
                                           std::string name) {
  if (!has_chunks(dataset, type, {H5Z_FILTER_FLETCHER32})) return std::nullopt;
  return PlainChunks(StoredChunks(file, dataset, rows, std::move(name)));
}

std::uint64_t PlainChunks::read(std::uint64_t row, std::uint64_t n, std::span<std::byte> buffer) {
  const auto chunk = row / chunks_.chunk_rows();
  if (chunk_ != chunk) enter(chunk);
  const auto first = row - chunk * chunks_.chunk_rows();
  const auto rows =
      std::min({n, chunks_.chunk_rows() - first, chunks_.rows() - row, std::uint64_t{buffer.size() / chunks_.width()}});
  sum_up_to(first * chunks_.width(), buffer);
  const auto bytes = buffer.first(rows * chunks_.width());
  chunks_.read(address_ + first * chunks_.width(), bytes);
  if (summed_ == first * chunks_.width()) add(bytes);
  if (first + rows < chunks_.chunk_rows() && row + rows < chunks_.rows()) return rows;
  // Padding follows the last row in the last chunk.
  std::array<std::byte, kBlock> rest;
  sum_up_to(chunks_.chunk_bytes(), rest);
  expect_checksum();
  return rows;
}

/// The checksum includes skipped bytes.
void PlainChunks::sum_up_to(std::uint64_t end, std::span<std::byte> buffer) {
  while (summed_ < end) {
    const auto bytes = buffer.first(std::min<std::uint64_t>(buffer.size(), end - summed_));
    chunks_.read(address_ + summed_, bytes);
    add(bytes);
  }
}

void PlainChunks::add(std::span<const std::byte> bytes) {
  sum_.add(bytes);
  summed_ += bytes.size();
}

void PlainChunks::enter(std::uint64_t chunk) {
  const auto place = chunks_.place_of(chunk);
  if (place.left_out != 0 || place.bytes != chunks_.chunk_bytes() + sizeof(std::uint32_t)) {
    chunks_.fail_in_chunk(chunk, "it has the wrong size");
  }
  chunk_ = chunk;
  address_ = place.address;
  summed_ = 0;
  sum_ = {};
}

void PlainChunks::expect_checksum() const {
  std::uint32_t stored = 0;
  chunks_.read(address_ + chunks_.chunk_bytes(), std::as_writable_bytes(std::span(&stored, 1)));
  if (stored == sum_.value()) return;
  chunks_.fail_in_chunk(*chunk_, wrong_checksum(stored, sum_.value()));
}

}  // namespace eventloom
