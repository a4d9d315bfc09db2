#include "io/hdf5/stored_chunks.hpp"

#include <hdf5.h>

#include <algorithm>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

int filter_at(hid_t creation, unsigned number) {
  unsigned flags = 0;
  std::size_t parameters = 0;
  return H5Pget_filter2(creation, number, &flags, &parameters, nullptr, 0, nullptr, nullptr);
}

}  // namespace

bool has_chunks(hid_t dataset, hid_t type, std::initializer_list<int> filters) {
  const H5Id creation(check(H5Dget_create_plist(dataset), "a dataset"), H5Pclose);
  const H5Id stored(check(H5Dget_type(dataset), "a dataset"), H5Tclose);
  if (H5Pget_layout(creation.get()) != H5D_CHUNKED || H5Tequal(stored.get(), type) <= 0 ||
      H5Pget_nfilters(creation.get()) != static_cast<int>(filters.size())) {
    return false;
  }
  return std::ranges::all_of(filters,
                             [&, i = 0U](int filter) mutable { return filter_at(creation.get(), i++) == filter; });
}

StoredChunks::StoredChunks(hid_t file, hid_t dataset, std::uint64_t rows, std::string name)
    : dataset_(dataset), file_(file), name_(std::move(name)), rows_(rows) {
  const H5Id creation(check(H5Dget_create_plist(dataset), name_.c_str()), H5Pclose);
  const H5Id type(check(H5Dget_type(dataset), name_.c_str()), H5Tclose);
  hsize_t chunk_rows = 0;
  check(H5Pget_chunk(creation.get(), 1, &chunk_rows), name_.c_str());
  chunk_rows_ = chunk_rows;
  width_ = H5Tget_size(type.get());
}

StoredChunks::Place StoredChunks::place_of(std::uint64_t chunk) const {
  const hsize_t start = chunk * chunk_rows_;
  unsigned mask = 0;
  haddr_t address = HADDR_UNDEF;
  hsize_t bytes = 0;
  if (H5Dget_chunk_info_by_coord(dataset_, &start, &mask, &address, &bytes) < 0 || address == HADDR_UNDEF) {
    fail("no chunk found where row " + std::to_string(start) + " should be");
  }
  return {address, bytes, mask};
}

void StoredChunks::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  if (const auto reason = file_.read(offset, bytes); !reason.empty()) fail(reason);
}

void StoredChunks::fail(const std::string& what) const { throw UserError(name_ + " is damaged: " + what); }

void StoredChunks::fail_in_chunk(std::uint64_t chunk, const std::string& what) const {
  fail(fmt::format("the chunk of rows {} to {}: {}", chunk * chunk_rows_,
                   std::min(rows_, (chunk + 1) * chunk_rows_) - 1, what));
}

}  // namespace eventloom
