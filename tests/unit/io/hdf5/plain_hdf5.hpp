#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

/// Reads files with HDF5's plain C interface, independently of the code under test.
namespace plain {

inline hid_t open(const std::filesystem::path& path) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) throw std::runtime_error("cannot open " + path.string());
  return file;
}

inline bool has(const std::filesystem::path& path, const std::string& object) {
  const hid_t file = open(path);
  const bool found = H5Lexists(file, object.c_str(), H5P_DEFAULT) > 0;
  H5Fclose(file);
  return found;
}

/// Reads a whole dataset, which must be stored as little-endian unsigned integers of T's size, or as doubles.
template <class T>
std::vector<T> column(const std::filesystem::path& path, const std::string& name) {
  static_assert(std::is_unsigned_v<T> || std::is_same_v<T, double>);
  const hid_t whole = sizeof(T) == 2 ? H5T_STD_U16LE : sizeof(T) == 4 ? H5T_STD_U32LE : H5T_STD_U64LE;
  const hid_t stored = std::is_same_v<T, double> ? H5T_IEEE_F64LE : whole;
  const hid_t file = open(path);
  const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  if (dataset < 0) throw std::runtime_error(path.string() + " has no " + name);
  const hid_t type = H5Dget_type(dataset);
  if (H5Tequal(type, stored) <= 0) throw std::runtime_error(name + " has another type");
  const hid_t space = H5Dget_space(dataset);
  std::vector<T> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  const herr_t read = H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Sclose(space);
  H5Tclose(type);
  H5Dclose(dataset);
  H5Fclose(file);
  if (read < 0) throw std::runtime_error("cannot read " + name);
  return values;
}

/// Replaces a dataset by `values`, each in its own chunk with a checksum, as Eventloom stores columns. The file then
/// lacks the list of its datasets and attributes with checksums, like those of earlier versions.
inline void replace_column(const std::filesystem::path& path, const std::string& name,
                           const std::vector<std::uint64_t>& values) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hsize_t rows = values.size();
  const hsize_t chunk = 1;
  const hid_t space = H5Screate_simple(1, &rows, nullptr);
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(list, 1, &chunk);
  H5Pset_fletcher32(list);
  if (file < 0 || H5Ldelete(file, name.c_str(), H5P_DEFAULT) < 0) throw std::runtime_error("cannot change " + name);
  for (const char* seal : {"datasets", "attributes_crc32"}) {
    if (H5Aexists(file, seal) > 0) H5Adelete(file, seal);
  }
  const hid_t dataset = H5Dcreate2(file, name.c_str(), H5T_STD_U64LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
  const herr_t written = H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(dataset);
  H5Pclose(list);
  H5Sclose(space);
  H5Fclose(file);
  if (written < 0) throw std::runtime_error("cannot write " + name);
}

/// Rows per chunk, and filters of a dataset.
struct Storage {
  hsize_t chunk_rows = 0;
  int filters = 0;
};

inline Storage storage(const std::filesystem::path& path, const std::string& name) {
  const hid_t file = open(path);
  const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  const hid_t list = H5Dget_create_plist(dataset);
  Storage result;
  H5Pget_chunk(list, 1, &result.chunk_rows);
  result.filters = H5Pget_nfilters(list);
  H5Pclose(list);
  H5Dclose(dataset);
  H5Fclose(file);
  return result;
}

/// A text attribute of `object` ("/" for the root), which must have variable length and be UTF-8; a list is joined by
/// "|".
inline std::string attribute(const std::filesystem::path& path, const std::string& object, const std::string& name) {
  const hid_t file = open(path);
  const hid_t at = H5Aopen_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  if (at < 0) throw std::runtime_error(object + " has no attribute " + name);
  const hid_t type = H5Aget_type(at);
  if (H5Tis_variable_str(type) <= 0 || H5Tget_cset(type) != H5T_CSET_UTF8) {
    throw std::runtime_error(name + " is not a text of variable length in UTF-8");
  }
  const hid_t space = H5Aget_space(at);
  std::vector<char*> texts(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  std::string value;
  if (H5Aread(at, type, texts.data()) < 0) throw std::runtime_error("cannot read " + name);
  for (char* text : texts) value += (value.empty() ? "" : "|") + std::string(text == nullptr ? "" : text);
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts.data());
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(at);
  H5Fclose(file);
  return value;
}

}  // namespace plain
