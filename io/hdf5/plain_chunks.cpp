#include "io/hdf5/plain_chunks.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kBlock = std::size_t{16} << 10;

bool has_checksums_alone(hid_t creation) {
  if (H5Pget_layout(creation) != H5D_CHUNKED || H5Pget_nfilters(creation) != 1) return false;
  unsigned flags = 0;
  std::size_t parameters = 0;
  return H5Pget_filter2(creation, 0, &flags, &parameters, nullptr, 0, nullptr, nullptr) == H5Z_FILTER_FLETCHER32;
}

}  // namespace

std::optional<PlainChunks> PlainChunks::of(hid_t file, hid_t dataset, hid_t type, std::uint64_t rows,
                                           std::string name) {
  const H5Id creation(check(H5Dget_create_plist(dataset), name.c_str()), H5Pclose);
  const H5Id stored(check(H5Dget_type(dataset), name.c_str()), H5Tclose);
  if (!has_checksums_alone(creation.get()) || H5Tequal(stored.get(), type) <= 0) return std::nullopt;
  hsize_t chunk_rows = 0;
  check(H5Pget_chunk(creation.get(), 1, &chunk_rows), name.c_str());
  PlainChunks chunks;
  chunks.dataset_ = dataset;
  chunks.file_ = FileBytes(file);
  chunks.name_ = std::move(name);
  chunks.width_ = H5Tget_size(type);
  chunks.rows_ = rows;
  chunks.chunk_rows_ = chunk_rows;
  return chunks;
}

std::uint64_t PlainChunks::read(std::uint64_t row, std::uint64_t n, std::span<std::byte> buffer) {
  const auto chunk = row / chunk_rows_;
  if (chunk_ != chunk) enter(chunk);
  const auto first = row - chunk * chunk_rows_;
  const auto rows = std::min({n, chunk_rows_ - first, rows_ - row, std::uint64_t{buffer.size() / width_}});
  sum_up_to(first * width_, buffer);
  const auto bytes = buffer.first(rows * width_);
  read_bytes(address_ + first * width_, bytes);
  if (summed_ == first * width_) add(bytes);
  if (first + rows < chunk_rows_ && row + rows < rows_) return rows;
  // Padding follows the last row in the last chunk.
  std::array<std::byte, kBlock> rest;
  sum_up_to(chunk_rows_ * width_, rest);
  expect_checksum();
  return rows;
}

/// The checksum includes skipped bytes.
void PlainChunks::sum_up_to(std::uint64_t end, std::span<std::byte> buffer) {
  while (summed_ < end) {
    const auto bytes = buffer.first(std::min<std::uint64_t>(buffer.size(), end - summed_));
    read_bytes(address_ + summed_, bytes);
    add(bytes);
  }
}

void PlainChunks::add(std::span<const std::byte> bytes) {
  sum_.add(bytes);
  summed_ += bytes.size();
}

void PlainChunks::enter(std::uint64_t chunk) {
  const hsize_t start = chunk * chunk_rows_;
  unsigned mask = 0;
  haddr_t address = HADDR_UNDEF;
  hsize_t stored = 0;
  const auto status = H5Dget_chunk_info_by_coord(dataset_, &start, &mask, &address, &stored);
  if (status < 0 || address == HADDR_UNDEF || mask != 0 || stored != chunk_rows_ * width_ + sizeof(std::uint32_t)) {
    fail("no chunk found where row " + std::to_string(start) + " should be");
  }
  chunk_ = chunk;
  address_ = address;
  summed_ = 0;
  sum_ = {};
}

void PlainChunks::read_bytes(std::uint64_t offset, std::span<std::byte> bytes) const {
  if (const auto reason = file_.read(offset, bytes); !reason.empty()) fail(reason);
}

void PlainChunks::expect_checksum() const {
  std::uint32_t stored = 0;
  read_bytes(address_ + chunk_rows_ * width_, std::as_writable_bytes(std::span(&stored, 1)));
  if (stored == sum_.value()) return;
  fail(fmt::format("the checksum of rows {} to {} is wrong: {:08x} was expected, not {:08x}", *chunk_ * chunk_rows_,
                   std::min(rows_, (*chunk_ + 1) * chunk_rows_) - 1, stored, sum_.value()));
}

void PlainChunks::fail(const std::string& what) const { throw UserError(name_ + " is damaged: " + what); }

}  // namespace eventloom
