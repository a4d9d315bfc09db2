#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/attribute_value.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/stored_number.hpp"

namespace eventloom {

/// Attributes of an open object: 64-bit numbers, UTF-8 texts of variable length and lists of these. The read functions
/// throw UserError unless an attribute has that name and kind. They also accept texts of fixed length, which earlier
/// versions wrote.
void write_attribute(hid_t object, const char* name, std::uint64_t value);
void write_attribute(hid_t object, const char* name, const std::string& value);
void write_attribute(hid_t object, const char* name, const std::vector<std::string>& values);
void write_attribute(hid_t object, const char* name, const std::vector<std::uint64_t>& values);

bool has_attribute(hid_t object, const char* name);
std::uint64_t read_number(hid_t object, const char* name);
std::vector<std::uint64_t> read_numbers(hid_t object, const char* name);
std::string read_text(hid_t object, const char* name);
/// Reads an attribute of any HDF5 file. Returns std::nullopt when it does not exist, and an empty text when it is not a
/// single short text.
std::optional<std::string> short_text(hid_t object, const char* name);
/// Likewise: the numbers of an attribute, at most 64; none when it does not exist or holds something else.
std::vector<StoredNumber> any_numbers(hid_t object, const char* name);
std::vector<std::string> read_texts(hid_t object, const char* name);

/// Reads an attribute of any of these kinds.
AttributeValue read_attribute(hid_t object, const char* name);

/// Names of all attributes, in alphabetical order.
std::vector<std::string> attribute_names(hid_t object);
/// Copies one attribute; texts are stored with variable length.
void copy_attribute(hid_t from, hid_t to, const char* name);

}  // namespace eventloom
