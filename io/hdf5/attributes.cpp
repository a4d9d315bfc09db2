#include "io/hdf5/attributes.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include "core/runtime/error.hpp"
#include "io/hdf5/number_type.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/packed_texts.hpp"
#include "io/hdf5/text_heap.hpp"

namespace eventloom {

namespace {

void write_raw(hid_t object, const char* name, hid_t type, hid_t space, const void* data) {
  const H5Id attribute(check(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), name), H5Aclose);
  if (data != nullptr) check(H5Awrite(attribute.get(), type, data), name);
}

H5Id open_attribute(hid_t object, const char* name, H5T_class_t kind) {
  if (!has_attribute(object, name)) throw UserError("the attribute '" + std::string(name) + "' is missing");
  H5Id attribute(check(H5Aopen(object, name, H5P_DEFAULT), name), H5Aclose);
  const H5Id type(check(H5Aget_type(attribute.get()), name), H5Tclose);
  if (H5Tget_class(type.get()) == kind) return attribute;
  throw UserError("the attribute '" + std::string(name) + "' is not of the type that Eventloom writes");
}

H5Id variable_text_type() {
  H5Id type = text_type(1);
  check(H5Tset_size(type.get(), H5T_VARIABLE), "setting the length of a text");
  check(H5Tset_strpad(type.get(), H5T_STR_NULLTERM), "setting the end of a text");
  return type;
}

void write_texts_into(hid_t object, const char* name, hid_t space, const std::vector<std::string>& values) {
  std::vector<const char*> texts(std::max<std::size_t>(values.size(), 1), "");
  std::ranges::transform(values, texts.begin(), &std::string::c_str);
  write_raw(object, name, variable_text_type().get(), space, texts.data());
}

}  // namespace

void write_attribute(hid_t object, const char* name, std::uint64_t value) {
  const H5Id space(check(H5Screate(H5S_SCALAR), name), H5Sclose);
  const H5Id attribute(check(H5Acreate2(object, name, H5T_STD_U64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT), name),
                       H5Aclose);
  check(H5Awrite(attribute.get(), H5T_NATIVE_UINT64, &value), name);
}

void write_attribute(hid_t object, const char* name, const std::string& value) {
  const H5Id space(check(H5Screate(H5S_SCALAR), name), H5Sclose);
  write_texts_into(object, name, space.get(), {value});
}

void write_attribute(hid_t object, const char* name, const std::vector<std::string>& values) {
  const hsize_t n = values.size();
  const H5Id space(check(H5Screate_simple(1, &n, nullptr), name), H5Sclose);
  write_texts_into(object, name, space.get(), values);
}

void write_attribute(hid_t object, const char* name, const std::vector<std::uint64_t>& values) {
  const hsize_t n = values.size();
  const H5Id space(check(H5Screate_simple(1, &n, nullptr), name), H5Sclose);
  write_raw(object, name, H5T_STD_U64LE, space.get(), values.data());
}

bool has_attribute(hid_t object, const char* name) { return check(H5Aexists(object, name), name) > 0; }

std::uint64_t read_number(hid_t object, const char* name) {
  const H5Id attribute = open_attribute(object, name, H5T_INTEGER);
  const H5Id space(check(H5Aget_space(attribute.get()), name), H5Sclose);
  if (size_of_space(space.get()) != 1) throw UserError("the attribute '" + std::string(name) + "' is not one number");
  std::uint64_t value = 0;
  check(H5Aread(attribute.get(), H5T_NATIVE_UINT64, &value), name);
  return value;
}

std::vector<std::uint64_t> read_numbers(hid_t object, const char* name) {
  const H5Id attribute = open_attribute(object, name, H5T_INTEGER);
  const H5Id space(check(H5Aget_space(attribute.get()), name), H5Sclose);
  std::vector<std::uint64_t> values(size_of_space(space.get()));
  if (!values.empty()) check(H5Aread(attribute.get(), H5T_NATIVE_UINT64, values.data()), name);
  return values;
}

std::vector<std::string> read_texts(hid_t object, const char* name) {
  const H5Id attribute = open_attribute(object, name, H5T_STRING);
  const H5Id type(check(H5Aget_type(attribute.get()), name), H5Tclose);
  const H5Id space(check(H5Aget_space(attribute.get()), name), H5Sclose);
  const std::size_t n = size_of_space(space.get());
  if (H5Tis_variable_str(type.get()) > 0) return read_heap_texts(attribute.get(), n);
  PackedTexts packed{H5Tget_size(type.get()), {}};
  packed.bytes.resize(packed.width * std::max<std::size_t>(n, 1));
  if (n > 0) check(H5Aread(attribute.get(), type.get(), packed.bytes.data()), name);
  return unpack(packed, n);
}

std::string read_text(hid_t object, const char* name) {
  const auto values = read_texts(object, name);
  if (values.size() != 1) throw UserError("the attribute '" + std::string(name) + "' is not one text");
  return values.front();
}

AttributeValue read_attribute(hid_t object, const char* name) {
  const H5Id attribute(check(H5Aopen(object, name, H5P_DEFAULT), name), H5Aclose);
  const H5Id type(check(H5Aget_type(attribute.get()), name), H5Tclose);
  const H5Id space(check(H5Aget_space(attribute.get()), name), H5Sclose);
  const bool is_list = H5Sget_simple_extent_ndims(space.get()) != 0;
  if (H5Tget_class(type.get()) == H5T_INTEGER) {
    return is_list ? AttributeValue(read_numbers(object, name)) : read_number(object, name);
  }
  return is_list ? AttributeValue(read_texts(object, name)) : read_text(object, name);
}

std::optional<std::string> short_text(hid_t object, const char* name) {
  constexpr std::size_t kMostBytes = 1024;
  if (H5Aexists(object, name) <= 0) return std::nullopt;
  const H5Id attribute(check(H5Aopen(object, name, H5P_DEFAULT), name), H5Aclose);
  const H5Id type(check(H5Aget_type(attribute.get()), name), H5Tclose);
  const H5Id space(check(H5Aget_space(attribute.get()), name), H5Sclose);
  if (H5Tget_class(type.get()) != H5T_STRING || size_of_space(space.get()) != 1) return std::string();
  std::array<char, kMostBytes> bytes{};
  if (H5Tis_variable_str(type.get()) > 0) {
    char* text = nullptr;
    check(H5Aread(attribute.get(), type.get(), static_cast<void*>(&text)), name);
    if (text == nullptr) return std::string();
    std::strncpy(bytes.data(), text, bytes.size() - 1);
    H5free_memory(text);
  } else {
    if (H5Tget_size(type.get()) > bytes.size()) return std::string();
    check(H5Aread(attribute.get(), type.get(), bytes.data()), name);
  }
  return std::string(bytes.data(), ::strnlen(bytes.data(), bytes.size()));
}

std::vector<StoredNumber> any_numbers(hid_t object, const char* name) {
  constexpr std::size_t kMost = 64;
  if (H5Aexists(object, name) <= 0) return {};
  const H5Id attribute(check(H5Aopen(object, name, H5P_DEFAULT), name), H5Aclose);
  const H5Id type(check(H5Aget_type(attribute.get()), name), H5Tclose);
  const H5Id space(check(H5Aget_space(attribute.get()), name), H5Sclose);
  const auto n = size_of_space(space.get());
  const auto kind = number_type(type.get());
  if (!kind || n == 0 || n > kMost) return {};
  std::array<std::uint64_t, kMost> bits{};
  check(H5Aread(attribute.get(), kind->in_memory, bits.data()), name);
  std::vector<StoredNumber> numbers;
  for (std::size_t i = 0; i < n; ++i) numbers.push_back(number_of(bits.at(i), *kind));
  return numbers;
}

std::vector<std::string> attribute_names(hid_t object) {
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  hsize_t from = 0;
  check(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &from, add, &names), "listing attributes");
  return names;
}

void copy_attribute(hid_t from, hid_t to, const char* name) {
  const H5Id attribute(check(H5Aopen(from, name, H5P_DEFAULT), name), H5Aclose);
  const H5Id type(check(H5Aget_type(attribute.get()), name), H5Tclose);
  const H5Id space(check(H5Aget_space(attribute.get()), name), H5Sclose);
  if (H5Tget_class(type.get()) == H5T_STRING) {
    write_texts_into(to, name, space.get(), read_texts(from, name));
    return;
  }
  std::vector<char> bytes(std::max<std::size_t>(H5Tget_size(type.get()) * size_of_space(space.get()), 1));
  if (size_of_space(space.get()) > 0) check(H5Aread(attribute.get(), type.get(), bytes.data()), name);
  write_raw(to, name, type.get(), space.get(), bytes.data());
}

}  // namespace eventloom
