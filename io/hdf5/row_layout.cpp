#include "io/hdf5/row_layout.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/runtime/error.hpp"
#include "io/hdf5/hdf5_version.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/virtual_layout.hpp"
#include "io/hdf5/written_rows.hpp"

namespace eventloom {

namespace {

using Sizes = std::array<hsize_t, ColumnShape::kMostRank>;

H5Id creation_of(hid_t dataset) { return {check(H5Dget_create_plist(dataset), "a dataset's layout"), H5Pclose}; }

}  // namespace

RowLayout::RowLayout(std::string name, hid_t dataset, const ColumnShape& shape, std::uint64_t rows)
    : name_(std::move(name)),
      dataset_(dataset),
      space_(check(H5Dget_space(dataset), "a dataset's space"), H5Sclose),
      creation_(creation_of(dataset)),
      shape_(shape),
      rows_(rows) {
  require_filters();
  find_rows_elsewhere();
  if (H5Pget_layout(creation()) == H5D_CHUNKED) find_chunks();
}

std::uint64_t RowLayout::chunk_rows_of(hid_t dataset, const ColumnShape& shape) {
  const H5Id creation = creation_of(dataset);
  Sizes rows{};
  if (H5Pget_layout(creation.get()) != H5D_CHUNKED) return 0;
  const auto rank = H5Pget_chunk(creation.get(), ColumnShape::kMostRank, rows.data());
  return rank == static_cast<int>(shape.rank) ? rows.at(shape.axis) : 0;
}

void RowLayout::find_chunks() {
  chunk_rows_ = chunk_rows_of(dataset_, shape_);
  if (chunk_rows_ == 0) fail("its layout is damaged: " + hdf5_reason());
  hsize_t chunks = 0;
  if (H5Dget_num_chunks(dataset_, space_.get(), &chunks) < 0) fail("its chunk index cannot be read: " + hdf5_reason());
  chunks_ = chunks;
}

void RowLayout::find_rows_elsewhere() {
  if (H5Pget_layout(creation()) == H5D_VIRTUAL) {
    const auto missing = missing_virtual_source(creation(), file_of(dataset_));
    if (!missing.empty()) fail("its rows are in " + missing + ", which is missing or does not open");
    mapped_ = written_rows(dataset_, file_of(dataset_));
    rows_elsewhere_ = mapped_.count();
  }
  if (H5Pget_external_count(creation()) > 0) {
    const H5Id type(check(H5Dget_type(dataset_), "a dataset's type"), H5Tclose);
    rows_elsewhere_ = external_bytes(creation(), file_of(dataset_)) / H5Tget_size(type.get());
  }
}

void RowLayout::require_filters() const {
  for (int i = 0; i < H5Pget_nfilters(creation()); ++i) {
    unsigned flags = 0;
    std::size_t n = 0;
    char name[64] = "";
    const auto filter =
        H5Pget_filter2(creation(), static_cast<unsigned>(i), &flags, &n, nullptr, sizeof name, name, nullptr);
    if ((filter >= 0 && H5Zfilter_avail(filter) > 0) || filter_skipped(i)) continue;
    fail("it is compressed with filter " + std::to_string(filter) + " (" + name +
         "), which this HDF5 lacks: set HDF5_PLUGIN_PATH to a folder that has it as a plugin; Debian has plugins in "
         "the packages hdf5-filter-plugin and python3-hdf5plugin");
  }
}

/// Writers skip an optional filter that they lack, and mark each chunk.
bool RowLayout::filter_skipped(int filter) const {
  Sizes begin{};
  unsigned skipped = 0;
  haddr_t address = 0;
  hsize_t bytes = 0;
  const bool known = H5Dget_chunk_info(dataset_, space_.get(), 0, begin.data(), &skipped, &address, &bytes) >= 0;
  return !known || (skipped >> static_cast<unsigned>(filter) & 1U) != 0;
}

std::uint64_t RowLayout::all_chunks() const { return rows_ / chunk_rows_ + (rows_ % chunk_rows_ != 0 ? 1 : 0); }

std::uint64_t RowLayout::piece_end(std::uint64_t row) const {
  if (chunk_rows_ == 0) return rows_;
  const auto begin = row - row % chunk_rows_;
  return begin + std::min(chunk_rows_, rows_ - begin);
}

std::optional<std::uint64_t> RowLayout::first_absent(std::uint64_t from, std::size_t n) const {
  if (chunk_rows_ == 0) return std::nullopt;
  Sizes begin{};
  for (std::uint64_t row = from; row < from + n; row = piece_end(row)) {
    begin.at(shape_.axis) = row - row % chunk_rows_;
    hsize_t bytes = 0;
    if (H5Dget_chunk_storage_size(dataset_, begin.data(), &bytes) < 0 || bytes == 0) return row;
  }
  return std::nullopt;
}

RowRanges RowLayout::unwritten() const {
  if (H5Pget_layout(creation()) == H5D_VIRTUAL) return mapped_.others(rows_);
  if (chunk_rows_ != 0 && chunks_ >= all_chunks()) return {};
  return written_rows(dataset_, file_of(dataset_)).others(rows_);
}

void RowLayout::require_written() const {
  const auto layout = H5Pget_layout(creation());
  if (chunk_rows_ != 0) {
    const auto chunks = all_chunks();
    if (chunks_ >= chunks - chunks / 2) return;
    fail("of its " + std::to_string(rows_) + " rows, most were never written (" + std::to_string(chunks_) + " of " +
         std::to_string(chunks) + " chunks are in the file)");
  }
  if (rows_elsewhere_) {
    if (*rows_elsewhere_ >= (layout == H5D_VIRTUAL ? rows_ - rows_ / 2 : rows_)) return;
    fail("of its " + std::to_string(rows_) + " rows, which are in other files, only " +
         std::to_string(*rows_elsewhere_) + " were ever written");
  }
  if (rows_ == 0 || layout != H5D_CONTIGUOUS) return;
  hsize_t file_bytes = 0;
  const H5Id own(check(H5Iget_file_id(dataset_), "a dataset's file"), H5Fclose);
  check(H5Fget_filesize(own.get(), &file_bytes), "a file's size");
  const auto bytes = H5Dget_storage_size(dataset_);
  if (bytes == 0 || bytes > file_bytes) fail("its " + std::to_string(rows_) + " rows are not in the file");
}

void RowLayout::fail(const std::string& what) const { throw UserError("'" + name_ + "': " + what); }

}  // namespace eventloom
