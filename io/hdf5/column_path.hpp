#pragma once

#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"

namespace eventloom {

/// The names in "/a/b"; empty ones are skipped.
std::vector<std::string> names_in(const std::string& path);

/// What "hits/time" names below a place in a file.
struct OpenedColumn {
  H5Id dataset;                    ///< none: there is no such dataset, or it does not open
  std::string path;                ///< of the dataset
  std::vector<std::string> field;  ///< of a table (compound dataset), the names in "hits/time" behind it
};

/// Opens a dataset, or the table one of whose fields `name` is. `place`: a file or group.
OpenedColumn open_column(hid_t place, const std::string& name);

/// The names of the first fields of a compound type; none of any other type.
std::vector<std::string> fields_of(hid_t type);

/// The type of a field; none when there is no such field.
H5Id type_of_field(hid_t type, const std::vector<std::string>& field);

/// A type in memory of this one field, as `type`.
H5Id only_field(const std::vector<std::string>& field, hid_t type);

}  // namespace eventloom
