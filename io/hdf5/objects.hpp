#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"

/// Groups and datasets, and the links to them.
namespace eventloom {

/// A creation property list of this class for an object whose header holds no times, so that files with the same
/// contents are identical to the byte.
H5Id timeless_list(hid_t property_class);
void create_group(hid_t file, const char* path);

/// True when the file has an object of that name.
bool has_object(hid_t file, const std::string& path);
/// What HDF5 says of a link: positive, 0, or negative when it cannot tell.
htri_t find_link(hid_t place, const std::string& name);
/// None when it does not open. `place`: a file or group.
H5Id open_object(hid_t place, const std::string& name);
bool is_group(hid_t object);
bool is_dataset(hid_t object);
/// Number of the object in its file: equal for two paths to one object. 0 when it does not open.
std::uint64_t object_number(hid_t file, const std::string& path);

struct Link {
  std::string name;
  bool is_hard = false;
};

/// Adds those of a group, in the order of names. Negative, see check(), when the list is damaged, which may also crash
/// HDF5 1.10.
herr_t list_links(hid_t group, std::vector<Link>& links);
/// Makes `path` another name of an object.
void link_object(hid_t file, const char* path, const char* existing);
/// Makes `name` a name of the root of another file, which is found relative to the folder of this one.
void link_file(hid_t file, const std::string& name, const std::string& other);

H5Id type_of(hid_t dataset);
std::size_t size_of_space(hid_t space);
/// Of a dataset of any number of dimensions.
std::uint64_t elements_of(hid_t dataset, const std::string& name);
/// Nothing when it has not one dimension.
std::optional<std::uint64_t> rows_of_column(hid_t dataset);
/// Why the chunk index of a dataset cannot be read to its end; empty when it can.
std::string index_defect(hid_t dataset);

}  // namespace eventloom
