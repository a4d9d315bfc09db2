#include "io/hdf5/counts_array.hpp"

#include <hdf5.h>

#include <algorithm>

#include "core/runtime/error.hpp"
#include "formats/crc32c.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/seal.hpp"
#include "io/hdf5/stored_size.hpp"

namespace eventloom {

void write_counts(const OutputFile& file, const std::string& path, const CountsArray& array,
                  const std::string& meaning) {
  const std::vector<hsize_t> shape(array.shape.begin(), array.shape.end());
  const auto rank = static_cast<int>(shape.size());
  const H5Id space(check(H5Screate_simple(rank, shape.data(), nullptr), path.c_str()), H5Sclose);
  const H5Id creation = timeless_list(H5P_DATASET_CREATE);
  check(H5Pset_chunk(creation.get(), rank, shape.data()), path.c_str());
  check(H5Pset_shuffle(creation.get()), path.c_str());
  check(H5Pset_deflate(creation.get(), 1), path.c_str());
  check(H5Pset_fletcher32(creation.get()), path.c_str());
  const H5Id dataset(
      check(H5Dcreate2(file.id(), path.c_str(), H5T_STD_U64LE, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
            path.c_str()),
      H5Dclose);
  check(H5Dwrite(dataset.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.counts.data()), path.c_str());
  write_attribute(dataset.get(), "meaning", meaning);
  seal_values(dataset.get(), crc32_of_zlib(std::as_bytes(std::span(array.counts)), 0));
}

std::vector<std::uint64_t> read_counts(hid_t file, const std::string& name, const std::string& path,
                                       std::span<const std::uint64_t> shape) {
  const auto place = "'" + name + "': " + path;
  if (!has_object(file, path)) throw UserError("'" + name + "' has no dataset " + path);
  const H5Id dataset = open_object(file, path);
  if (dataset.get() < 0 || !is_dataset(dataset.get())) throw UserError(place + " is not a dataset");
  const H5Id space(check(H5Dget_space(dataset.get()), path.c_str()), H5Sclose);
  std::vector<hsize_t> found(shape.size());
  const bool same_rank = H5Sget_simple_extent_ndims(space.get()) == static_cast<int>(shape.size());
  if (same_rank) check(H5Sget_simple_extent_dims(space.get(), found.data(), nullptr), path.c_str());
  const bool whole = H5Tget_class(type_of(dataset.get()).get()) == H5T_INTEGER;
  if (!same_rank || !whole || !std::ranges::equal(found, shape))
    throw UserError(place + " does not have the shape of its edges");
  expect_stored(dataset.get(), place);
  std::uint64_t n = 1;
  for (const auto along : shape) n *= along;
  std::vector<std::uint64_t> counts(n);
  if (H5Dread(dataset.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, counts.data()) < 0)
    throw UserError(place + " cannot be read: a checksum is wrong, or a deflated chunk is invalid");
  expect_values(sum_of_values(dataset.get()), crc32_of_zlib(std::as_bytes(std::span(counts)), 0), place);
  return counts;
}

}  // namespace eventloom
