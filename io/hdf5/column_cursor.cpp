#include "io/hdf5/column_cursor.hpp"

#include <hdf5.h>

#include <algorithm>

#include "core/runtime/error.hpp"
#include "formats/crc32c.hpp"
#include "io/hdf5/seal.hpp"
#include "io/hdf5/stored_size.hpp"

namespace eventloom {

namespace {

hid_t memory_type(ElementType type) {
  switch (type) {
    case ElementType::u16: return H5T_NATIVE_UINT16;
    case ElementType::u32: return H5T_NATIVE_UINT32;
    case ElementType::u64: return H5T_NATIVE_UINT64;
    case ElementType::i64: return H5T_NATIVE_INT64;
    case ElementType::f64: break;
  }
  return H5T_NATIVE_DOUBLE;
}

H5T_class_t class_of(ElementType type) { return type == ElementType::f64 ? H5T_FLOAT : H5T_INTEGER; }

/// Opens plain chunks without HDF5's chunk cache, which would read whole chunks; compressed chunks need it.
H5Id open_dataset(hid_t file, const std::string& path) {
  H5Id dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (dataset.get() < 0) return dataset;
  const H5Id creation(check(H5Dget_create_plist(dataset.get()), path.c_str()), H5Pclose);
  if (H5Pget_nfilters(creation.get()) > 0) return dataset;
  const H5Id access(check(H5Pcreate(H5P_DATASET_ACCESS), "creating a property list"), H5Pclose);
  check(H5Pset_chunk_cache(access.get(), H5D_CHUNK_CACHE_NSLOTS_DEFAULT, 0, H5D_CHUNK_CACHE_W0_DEFAULT),
        "setting the chunk cache");
  dataset.reset();
  return H5Id(H5Dopen2(file, path.c_str(), access.get()), H5Dclose);
}

}  // namespace

ColumnCursor::ColumnCursor(hid_t file, const std::string& file_name, const ColumnSpec& spec, std::size_t buffer_bytes)
    : file_name_(file_name),
      spec_(&spec),
      width_(bytes_of(spec.type)),
      buffer_rows_(std::max<std::size_t>(buffer_bytes / width_, 1)),
      dataset_(open_dataset(file, spec.path)) {
  if (dataset_.get() < 0) throw UserError("'" + file_name_ + "' has no dataset " + spec.path);
  const H5Id type(check(H5Dget_type(dataset_.get()), spec.path.c_str()), H5Tclose);
  const H5Id space(check(H5Dget_space(dataset_.get()), spec.path.c_str()), H5Sclose);
  if (H5Tget_class(type.get()) != class_of(spec.type) || H5Sget_simple_extent_ndims(space.get()) != 1) {
    throw UserError("'" + file_name_ + "': the dataset " + spec.path + " is not one column of numbers");
  }
  expect_stored(dataset_.get(), "'" + file_name_ + "': " + spec.path);
  rows_ = static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(space.get()));
  const auto name = "'" + file_name_ + "': " + spec.path;
  plain_ = PlainChunks::of(file, dataset_.get(), memory_type(spec.type), rows_, name);
  deflated_ = DeflatedChunks::of(file, dataset_.get(), memory_type(spec.type), rows_, name);
  sealed_ = sum_of_values(dataset_.get());
  if (rows_ == 0) sum_up();
}

void ColumnCursor::fill() {
  if (!buffer_) buffer_ = std::make_unique_for_overwrite<std::byte[]>(buffer_rows_ * width_);
  begin_ = at_;
  read_rows();
  sum_up();
}

void ColumnCursor::read_rows() {
  const std::span buffer(buffer_.get(), buffer_rows_ * width_);
  if (plain_ || deflated_) {
    end_ = at_ + (plain_ ? plain_->read(at_, rows_left(), buffer) : deflated_->read(at_, rows_left(), buffer));
    return;
  }
  const hsize_t start = at_;
  const hsize_t count = std::min<std::uint64_t>(buffer_rows_, rows_left());
  const H5Id space(check(H5Dget_space(dataset_.get()), spec_->path.c_str()), H5Sclose);
  check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr), "selecting rows");
  const H5Id memory(check(H5Screate_simple(1, &count, nullptr), "creating a dataspace"), H5Sclose);
  if (H5Dread(dataset_.get(), memory_type(spec_->type), memory.get(), space.get(), H5P_DEFAULT, buffer_.get()) < 0) {
    throw UserError("'" + file_name_ + "' is damaged: " + spec_->path + " cannot be read from row " +
                    std::to_string(start) + ": a checksum is wrong, or a deflated chunk is invalid");
  }
  end_ = start + count;
}

/// Cannot verify the checksum of rows once others were skipped.
void ColumnCursor::sum_up() {
  if (!sealed_ || begin_ != summed_) return;
  sum_ = crc32_of_zlib({buffer_.get(), static_cast<std::size_t>(end_ - begin_) * width_}, sum_);
  summed_ = end_;
  if (summed_ == rows_) expect_values(sealed_, sum_, "'" + file_name_ + "': " + spec_->path);
}

std::span<const std::byte> ColumnCursor::peek_bytes() {
  if (at_ == rows_) return {};
  if (at_ >= end_) fill();
  return {buffer_.get() + (at_ - begin_) * width_, static_cast<std::size_t>(end_ - at_) * width_};
}

void ColumnCursor::fail_behind_end() const {
  throw UserError("'" + file_name_ + "' is damaged: " + spec_->path + " ends after " + std::to_string(rows_) + " rows");
}

void ColumnCursor::skip(std::uint64_t n) { at_ += std::min(n, rows_left()); }

}  // namespace eventloom
