#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"

/// Groups, datasets and links.
namespace eventloom {

/// Creates a property list of this class that omits times from the object's header, so that files with equal contents
/// are byte-identical.
H5Id timeless_list(hid_t property_class);
void create_group(hid_t file, const char* path);

/// True when the file has an object of this name.
bool has_object(hid_t file, const std::string& path);
/// Positive when the link exists, 0 when not, negative on an error.
htri_t find_link(hid_t place, const std::string& name);
/// Returns an invalid id when the object does not open. `place` is a file or a group.
H5Id open_object(hid_t place, const std::string& name);
bool is_group(hid_t object);
bool is_dataset(hid_t object);
/// Address of the object in its file: equal for all paths to one object. 0 when it does not open.
std::uint64_t object_number(hid_t file, const std::string& path);

struct Link {
  std::string name;
  bool is_hard = false;
};

/// Appends the links of a group, sorted by name. Negative, see check(), when the list is damaged, which may also crash
/// HDF5 1.10.
herr_t list_links(hid_t group, std::vector<Link>& links);
/// Adds `path` as a hard link to an existing object.
void link_object(hid_t file, const char* path, const char* existing);
/// Adds `name` as a link to the root of another file, whose name is relative to the folder of this one.
void link_file(hid_t file, const std::string& name, const std::string& other);

/// The file that holds an object, to which a link may lead.
std::string file_of(hid_t object);
H5Id type_of(hid_t dataset);
std::size_t size_of_space(hid_t space);
/// Number of elements of a dataset of any rank.
std::uint64_t elements_of(hid_t dataset, const std::string& name);
/// Rows of a dataset that is a column; std::nullopt for any other.
std::optional<std::uint64_t> rows_of_column(hid_t dataset);
/// Why the chunk index of a dataset cannot be read; empty when it can.
std::string index_defect(hid_t dataset);

}  // namespace eventloom
