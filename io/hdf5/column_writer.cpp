#include "io/hdf5/column_writer.hpp"

#include <hdf5.h>

#include <cstring>
#include <utility>

#include "formats/crc32c.hpp"
#include "formats/duration_text.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/seal.hpp"

namespace eventloom {

namespace {

hid_t file_type(ElementType type) {
  switch (type) {
    case ElementType::u16: return H5T_STD_U16LE;
    case ElementType::u32: return H5T_STD_U32LE;
    case ElementType::u64: return H5T_STD_U64LE;
    case ElementType::i64: return H5T_STD_I64LE;
    case ElementType::f64: break;
  }
  return H5T_IEEE_F64LE;
}

H5Id creation_list(hsize_t chunk_rows, unsigned compress) {
  H5Id list = timeless_list(H5P_DATASET_CREATE);
  check(H5Pset_chunk(list.get(), 1, &chunk_rows), "setting the chunk size");
  check(H5Pset_fill_time(list.get(), H5D_FILL_TIME_NEVER), "setting the fill time");
  if (compress > 0) {
    check(H5Pset_shuffle(list.get()), "setting the shuffle filter");
    check(H5Pset_deflate(list.get(), compress), "setting the deflate filter");
  }
  // The last filter, so that it covers the stored bytes.
  check(H5Pset_fletcher32(list.get()), "setting the checksum filter");
  return list;
}

/// Disables the chunk cache: chunks are written whole.
H5Id access_list() {
  H5Id list(check(H5Pcreate(H5P_DATASET_ACCESS), "creating a property list"), H5Pclose);
  check(H5Pset_chunk_cache(list.get(), H5D_CHUNK_CACHE_NSLOTS_DEFAULT, 0, H5D_CHUNK_CACHE_W0_DEFAULT),
        "setting the chunk cache");
  return list;
}

void write_meaning(hid_t dataset, const ColumnSpec& spec, const ColumnSettings& settings) {
  write_attribute(dataset, "meaning", spec.meaning);
  if (!spec.bits.empty()) write_attribute(dataset, "bits", spec.bits);
  if (!spec.units.empty()) write_attribute(dataset, "units", spec.units);
  if (!spec.ticks) return;
  write_attribute(dataset, "units", settings.numbered ? "event numbers" : unit_of_ticks(settings.tick_ps));
  if (!settings.numbered) write_attribute(dataset, "tick_ps", settings.tick_ps);
}

}  // namespace

std::string unit_of_ticks(std::uint64_t tick_ps) {
  const auto text = duration_text(1, tick_ps);
  const auto unit = text.find_first_not_of("0123456789.");
  const auto number = text.substr(0, unit);
  return (number == "1" ? "" : number + " ") + text.substr(unit);
}

ColumnWriter::ColumnWriter(const OutputFile& file, const ColumnSpec& spec, const ColumnSettings& settings)
    : file_(&file),
      spec_(&spec),
      settings_(settings),
      width_(bytes_of(spec.type)),
      // Uncompressed chunks and their checksums fill whole pages.
      chunk_bytes_(std::max<std::size_t>((settings.chunk_bytes - kChunkChecksum) / 8, 1) * 8) {
  if (settings.compress > 0) packer_.emplace(width_, settings.compress);
}

/// Allocated with the first value, so that small runs use little memory.
std::byte* ColumnWriter::buffer() {
  if (!buffer_) buffer_ = std::make_unique_for_overwrite<std::byte[]>(chunk_bytes_ + kChunkChecksum);
  return buffer_.get();
}

void ColumnWriter::append_bytes(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t now = std::min(bytes.size(), room());
    std::memcpy(buffer() + filled_, bytes.data(), now);
    bytes = bytes.subspan(now);
    take_in(now);
  }
}

/// Accounts for bytes that have been written behind those in the buffer.
void ColumnWriter::take_in(std::size_t bytes) {
  const std::span added(buffer() + filled_, bytes);
  sum_ = crc32_of_zlib(added, sum_);
  if (!packer_) chunk_sum_.add(added);
  filled_ += bytes;
  if (filled_ == chunk_bytes_) write_chunk();
}

void ColumnWriter::create(std::size_t chunk_bytes) {
  const hsize_t none = 0;
  const hsize_t unlimited = H5S_UNLIMITED;
  const H5Id space(check(H5Screate_simple(1, &none, &unlimited), "creating a dataspace"), H5Sclose);
  const H5Id creation = creation_list(chunk_bytes / width_, settings_.compress);
  const char* path = spec_->path.c_str();
  dataset_ = H5Id(check(H5Dcreate2(file_->id(), path, file_type(spec_->type), space.get(), H5P_DEFAULT, creation.get(),
                                   access_list().get()),
                        path),
                  H5Dclose);
  write_meaning(dataset_.get(), *spec_, settings_);
}

/// The chunk as HDF5's filters would store it. They are slow.
std::span<const std::byte> ColumnWriter::stored_chunk() {
  const std::span padding(buffer() + filled_, chunk_bytes_ - filled_);
  std::ranges::fill(padding, std::byte{});
  if (packer_) return packer_->pack({buffer(), chunk_bytes_});
  chunk_sum_.add(padding);
  const std::uint32_t checksum = std::exchange(chunk_sum_, {}).value();
  std::memcpy(buffer() + chunk_bytes_, &checksum, kChunkChecksum);
  return {buffer(), chunk_bytes_ + kChunkChecksum};
}

void ColumnWriter::write_chunk() {
  if (dataset_.get() < 0) create(chunk_bytes_);
  const char* path = spec_->path.c_str();
  const hsize_t start = rows_written_;
  const hsize_t rows = start + filled_ / width_;
  check(H5Dset_extent(dataset_.get(), &rows), path);
  const auto stored = stored_chunk();
  check(H5Dwrite_chunk(dataset_.get(), H5P_DEFAULT, 0, &start, stored.size(), stored.data()), path);
  file_->expect_written();
  rows_written_ = rows;
  filled_ = 0;
}

void ColumnWriter::finish() {
  if (dataset_.get() < 0) {
    // All values fit in less than a chunk: shrink the chunk to them.
    if (filled_ > 0) chunk_bytes_ = filled_;
    create(chunk_bytes_);
  }
  if (filled_ > 0) write_chunk();
  seal_values(dataset_.get(), sum_);
  dataset_.reset();
  buffer_.reset();
}

}  // namespace eventloom
