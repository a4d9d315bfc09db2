#include "io/hdf5/objects.hpp"

#include <hdf5.h>

#include <filesystem>

#include "io/hdf5/column_shape.hpp"

namespace eventloom {

namespace {

herr_t keep_link(hid_t, const char* name, const H5L_info_t* info, void* links) {
  static_cast<std::vector<Link>*>(links)->push_back({name, info->type == H5L_TYPE_HARD});
  return 0;
}

}  // namespace

H5Id timeless_list(hid_t property_class) {
  H5Id list(check(H5Pcreate(property_class), "creating a property list"), H5Pclose);
  check(H5Pset_obj_track_times(list.get(), false), "leaving out times");
  return list;
}

void create_group(hid_t file, const char* path) {
  const H5Id creation = timeless_list(H5P_GROUP_CREATE);
  const H5Id group(check(H5Gcreate2(file, path, H5P_DEFAULT, creation.get(), H5P_DEFAULT), path), H5Gclose);
}

bool has_object(hid_t file, const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path().string();
  if (parent.size() > 1 && !has_object(file, parent)) return false;
  return check(find_link(file, path), path.c_str()) > 0;
}

htri_t find_link(hid_t place, const std::string& name) { return H5Lexists(place, name.c_str(), H5P_DEFAULT); }

H5Id open_object(hid_t place, const std::string& name) {
  return H5Id(H5Oopen(place, name.c_str(), H5P_DEFAULT), H5Oclose);
}

bool is_group(hid_t object) { return H5Iget_type(object) == H5I_GROUP; }
bool is_dataset(hid_t object) { return H5Iget_type(object) == H5I_DATASET; }

std::uint64_t object_number(hid_t file, const std::string& path) {
  H5O_info_t info{};
  return H5Oget_info_by_name(file, path.c_str(), &info, H5P_DEFAULT) < 0 ? 0 : info.addr;
}

herr_t list_links(hid_t group, std::vector<Link>& links) {
  return H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, keep_link, &links);
}

void link_object(hid_t file, const char* path, const char* existing) {
  check(H5Lcreate_hard(file, existing, file, path, H5P_DEFAULT, H5P_DEFAULT), path);
}

void link_file(hid_t file, const std::string& name, const std::string& other) {
  check(H5Lcreate_external(other.c_str(), "/", file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), "linking a file");
}

std::string file_of(hid_t object) {
  const auto size = check(H5Fget_name(object, nullptr, 0), "the name of a file");
  std::string name(static_cast<std::size_t>(size), '\0');
  check(H5Fget_name(object, name.data(), name.size() + 1), "the name of a file");
  return name;
}

H5Id type_of(hid_t dataset) { return H5Id(H5Dget_type(dataset), H5Tclose); }

std::size_t size_of_space(hid_t space) {
  return static_cast<std::size_t>(check(H5Sget_simple_extent_npoints(space), "asking for the size of a dataspace"));
}

std::uint64_t elements_of(hid_t dataset, const std::string& name) {
  const H5Id space(check(H5Dget_space(dataset), name.c_str()), H5Sclose);
  return size_of_space(space.get());
}

std::optional<std::uint64_t> rows_of_column(hid_t dataset) {
  const H5Id space(H5Dget_space(dataset), H5Sclose);
  const auto shape = column_shape(space.get());
  return shape ? std::optional(shape->rows) : std::nullopt;
}

/// Takes the reason before a handle closes, which clears it.
std::string index_defect(hid_t dataset) {
  const H5Id layout(H5Dget_create_plist(dataset), H5Pclose);
  const H5Id space(H5Dget_space(dataset), H5Sclose);
  hsize_t chunks = 0;
  if (H5Pget_layout(layout.get()) != H5D_CHUNKED) return {};
  return H5Dget_num_chunks(dataset, space.get(), &chunks) >= 0 ? std::string() : hdf5_reason();
}

}  // namespace eventloom
