#include "io/hdf5/virtual_layout.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "io/hdf5/handle.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

using NameOf = ssize_t (*)(hid_t, std::size_t, char*, std::size_t);

/// Of one mapping: the name of its file, or of its dataset.
std::string name_of(NameOf name_of, hid_t creation, std::size_t mapping) {
  const auto size = check(name_of(creation, mapping, nullptr, 0), "a name in a virtual layout");
  std::string name(static_cast<std::size_t>(size), '\0');
  check(name_of(creation, mapping, name.data(), name.size() + 1), "a name in a virtual layout");
  return name;
}

std::vector<fs::path> places(const std::string& name, const fs::path& file) {
  if (name == ".") return {file};
  std::vector<fs::path> places = {name, file.parent_path() / name, file.parent_path() / fs::path(name).filename()};
  if (const char* prefix = std::getenv("HDF5_VDS_PREFIX")) {
    const std::string text(prefix);
    const std::string origin = "${ORIGIN}";
    places.push_back((text.starts_with(origin) ? file.parent_path() / text.substr(origin.size()) : fs::path(text)) /
                     name);
  }
  return places;
}

bool holds(const fs::path& file, const std::string& dataset) {
  const H5Id opened(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  return opened.get() >= 0 && H5Id(H5Dopen2(opened.get(), dataset.c_str(), H5P_DEFAULT), H5Dclose).get() >= 0;
}

}  // namespace

std::string missing_virtual_source(hid_t creation, const fs::path& file) {
  std::size_t n = 0;
  check(H5Pget_virtual_count(creation, &n), "a virtual layout");
  for (std::size_t i = 0; i < n; ++i) {
    const auto name = name_of(H5Pget_virtual_filename, creation, i);
    const auto dataset = name_of(H5Pget_virtual_dsetname, creation, i);
    if (name.find('%') != std::string::npos || dataset.find('%') != std::string::npos) continue;
    const auto there = [&](const fs::path& place) { return holds(place, dataset); };
    if (!std::ranges::any_of(places(name, file), there)) return name + ":" + dataset;
  }
  return "";
}

}  // namespace eventloom
