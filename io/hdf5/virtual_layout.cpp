#include "io/hdf5/virtual_layout.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/hdf5/objects.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

using NameOf = ssize_t (*)(hid_t, std::size_t, char*, std::size_t);

/// File or dataset name of a mapping.
std::string name_of(NameOf name_of, hid_t creation, std::size_t mapping) {
  const auto size = check(name_of(creation, mapping, nullptr, 0), "a name in a virtual layout");
  std::string name(static_cast<std::size_t>(size), '\0');
  check(name_of(creation, mapping, name.data(), name.size() + 1), "a name in a virtual layout");
  return name;
}

/// The folder that the user has set for such files; ${ORIGIN} in it means the folder of `file`.
std::optional<fs::path> folder_from(const char* variable, const fs::path& file) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return std::nullopt;
  const std::string text(value);
  const std::string origin = "${ORIGIN}";
  return text.starts_with(origin) ? file.parent_path() / text.substr(origin.size()) : fs::path(text);
}

std::vector<fs::path> places(const std::string& name, const fs::path& file) {
  if (name == ".") return {file};
  std::vector<fs::path> places = {name, file.parent_path() / name, file.parent_path() / fs::path(name).filename()};
  if (const auto folder = folder_from("HDF5_VDS_PREFIX", file)) places.push_back(*folder / name);
  return places;
}

bool holds(const fs::path& file, const std::string& dataset) {
  try {
    const H5Id opened = open_for_reading(file);
    return H5Id(H5Dopen2(opened.get(), dataset.c_str(), H5P_DEFAULT), H5Dclose).get() >= 0;
  } catch (const UserError&) {
    return false;
  }
}

/// The path where HDF5 searches for an external file.
fs::path external_place(const std::string& name, const fs::path& file) {
  const auto folder = folder_from("HDF5_EXTFILE_PREFIX", file);
  return folder && !fs::path(name).is_absolute() ? *folder / name : fs::path(name);
}

}  // namespace

H5Id create_view(hid_t file, const char* path, const std::string& source, std::uint64_t rows,
                 std::uint64_t source_rows) {
  const hsize_t shown = rows;
  const hsize_t all = source_rows;
  const H5Id space(check(H5Screate_simple(1, &shown, nullptr), path), H5Sclose);
  const H5Id creation = timeless_list(H5P_DATASET_CREATE);
  if (rows > 0) {
    const hsize_t start = 0;
    const H5Id from(check(H5Screate_simple(1, &all, nullptr), path), H5Sclose);
    check(H5Sselect_hyperslab(from.get(), H5S_SELECT_SET, &start, nullptr, &shown, nullptr), path);
    check(H5Pset_virtual(creation.get(), space.get(), ".", source.c_str(), from.get()), path);
  }
  return H5Id(check(H5Dcreate2(file, path, H5T_STD_U64LE, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), path),
              H5Dclose);
}

std::vector<VirtualMapping> virtual_mappings(hid_t creation) {
  constexpr const char* kWhat = "a virtual layout";
  std::size_t n = 0;
  check(H5Pget_virtual_count(creation, &n), kWhat);
  std::vector<VirtualMapping> mappings(n);
  for (std::size_t i = 0; i < n; ++i) {
    mappings[i].file = name_of(H5Pget_virtual_filename, creation, i);
    mappings[i].dataset = name_of(H5Pget_virtual_dsetname, creation, i);
    mappings[i].rows = H5Id(check(H5Pget_virtual_vspace(creation, i), kWhat), H5Sclose);
    mappings[i].source_rows = H5Id(check(H5Pget_virtual_srcspace(creation, i), kWhat), H5Sclose);
  }
  return mappings;
}

fs::path virtual_source(const std::string& name, const std::string& dataset, const fs::path& file) {
  for (const auto& place : places(name, file)) {
    if (holds(place, dataset)) return place;
  }
  return {};
}

std::string missing_virtual_source(hid_t creation, const fs::path& file) {
  for (const auto& mapping : virtual_mappings(creation)) {
    if (mapping.has_counter()) continue;
    if (virtual_source(mapping.file, mapping.dataset, file).empty()) return mapping.file + ":" + mapping.dataset;
  }
  return "";
}

std::uint64_t external_bytes(hid_t creation, const fs::path& file) {
  std::uint64_t bytes = 0;
  const int n = check(H5Pget_external_count(creation), "external files");
  for (int i = 0; i < n; ++i) {
    std::string name(4096, '\0');
    off_t offset = 0;
    hsize_t size = 0;
    check(H5Pget_external(creation, static_cast<unsigned>(i), name.size() - 1, name.data(), &offset, &size),
          "an external file");
    name.resize(name.find('\0'));
    std::error_code error;
    const auto place = external_place(name, file);
    const std::uint64_t there = fs::is_regular_file(place, error) ? fs::file_size(place, error) : 0;
    const auto begin = static_cast<std::uint64_t>(offset);
    if (!error && there > begin) bytes += std::min<std::uint64_t>(there - begin, size);
  }
  return bytes;
}

}  // namespace eventloom
