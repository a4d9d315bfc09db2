#pragma once

#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"

/// Datasets of texts of fixed length.
namespace eventloom {

/// Writes a dataset of one text.
void write_text(hid_t file, const char* path, const std::string& value);
/// Writes a whole column. Its attribute holds the checksum of the padded texts.
void write_texts(hid_t file, const char* path, const std::vector<std::string>& values);
/// Throws UserError when the column cannot be read or its checksum is wrong.
std::vector<std::string> read_text_column(hid_t file, const char* path);

}  // namespace eventloom
