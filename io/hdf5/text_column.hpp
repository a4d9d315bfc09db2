#pragma once

#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"

/// Datasets of texts of fixed length.
namespace eventloom {

/// A dataset of one text.
void write_text(hid_t file, const char* path, const std::string& value);
/// A whole column. Its attribute says what sum its texts have, padded as they are.
void write_texts(hid_t file, const char* path, const std::vector<std::string>& values);
/// Throws UserError, also when the texts are not those that were written.
std::vector<std::string> read_text_column(hid_t file, const char* path);

}  // namespace eventloom
