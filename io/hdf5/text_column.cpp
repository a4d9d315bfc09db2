#include "io/hdf5/text_column.hpp"

#include <hdf5.h>

#include <algorithm>
#include <span>

#include "core/runtime/error.hpp"
#include "formats/crc32c.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/packed_texts.hpp"
#include "io/hdf5/seal.hpp"
#include "io/hdf5/stored_size.hpp"

namespace eventloom {

namespace {

std::uint32_t sum_of(const PackedTexts& packed, std::size_t n) {
  return crc32_of_zlib(std::as_bytes(std::span(packed.bytes).first(n * packed.width)));
}

}  // namespace

void write_text(hid_t file, const char* path, const std::string& value) {
  const PackedTexts packed = pack({value});
  const H5Id type = text_type(packed.width);
  const H5Id space(check(H5Screate(H5S_SCALAR), path), H5Sclose);
  const H5Id creation = timeless_list(H5P_DATASET_CREATE);
  const H5Id dataset(
      check(H5Dcreate2(file, path, type.get(), space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), path), H5Dclose);
  check(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, packed.bytes.data()), path);
}

void write_texts(hid_t file, const char* path, const std::vector<std::string>& values) {
  const PackedTexts packed = pack(values);
  const hsize_t n = values.size();
  const H5Id type = text_type(packed.width);
  const H5Id space(check(H5Screate_simple(1, &n, nullptr), path), H5Sclose);
  const H5Id creation = timeless_list(H5P_DATASET_CREATE);
  if (n > 0) {
    check(H5Pset_chunk(creation.get(), 1, &n), path);
    check(H5Pset_fletcher32(creation.get()), path);
  }
  const H5Id dataset(
      check(H5Dcreate2(file, path, type.get(), space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), path), H5Dclose);
  check(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, packed.bytes.data()), path);
  seal_values(dataset.get(), sum_of(packed, n));
}

std::vector<std::string> read_text_column(hid_t file, const char* path) {
  const H5Id dataset(H5Dopen2(file, path, H5P_DEFAULT), H5Dclose);
  if (dataset.get() < 0) throw UserError("the dataset " + std::string(path) + " is missing");
  const H5Id type(check(H5Dget_type(dataset.get()), path), H5Tclose);
  if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) > 0) {
    throw UserError("the dataset " + std::string(path) + " is not of the type that Eventloom writes");
  }
  expect_stored(dataset.get(), path);
  const H5Id space(check(H5Dget_space(dataset.get()), path), H5Sclose);
  const std::size_t n = size_of_space(space.get());
  PackedTexts packed{H5Tget_size(type.get()), {}};
  packed.bytes.resize(packed.width * std::max<std::size_t>(n, 1));
  if (n > 0) check(H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, packed.bytes.data()), path);
  expect_values(sum_of_values(dataset.get()), sum_of(packed, n), path);
  return unpack(packed, n);
}

}  // namespace eventloom
