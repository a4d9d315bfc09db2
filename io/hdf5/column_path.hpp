#pragma once

#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"

namespace eventloom {

/// Splits "/a/b" into its names and drops empty ones.
std::vector<std::string> names_in(const std::string& path);

/// The dataset that a path such as "hits/time" leads to.
struct OpenedColumn {
  H5Id dataset;                    ///< invalid when the dataset is missing or does not open
  std::string path;                ///< path of the dataset
  std::vector<std::string> field;  ///< the rest of the path when the dataset is a table (compound type)
};

/// Opens the dataset `name`, or the table that has a field of this name. `place` is a file or a group.
OpenedColumn open_column(hid_t place, const std::string& name);

/// Names of the first fields of a compound type; empty for other types.
std::vector<std::string> fields_of(hid_t type);
/// Likewise of an enumeration.
std::vector<std::string> names_in_enumeration(hid_t type);

/// Type of a field; invalid when there is no such field.
H5Id type_of_field(hid_t type, const std::vector<std::string>& field);

/// A memory type that selects only this field, converted to `type`.
H5Id only_field(const std::vector<std::string>& field, hid_t type);

}  // namespace eventloom
