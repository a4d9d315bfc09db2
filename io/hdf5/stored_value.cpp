#include "io/hdf5/stored_value.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kMostInRow = 8;          ///< numbers shown of a row
constexpr std::size_t kMostRowBytes = 1U << 20;  ///< longer rows are not shown
constexpr unsigned kMostFields = 64;             ///< fields shown of a table

std::string member_name(hid_t type, unsigned member) {
  char* name = H5Tget_member_name(type, member);
  std::string text(name == nullptr ? "" : name);
  H5free_memory(name);
  return text;
}

H5Id member_type(hid_t type, unsigned member) { return H5Id(H5Tget_member_type(type, member), H5Tclose); }

unsigned members_of(hid_t type) { return static_cast<unsigned>(std::max(H5Tget_nmembers(type), 0)); }

std::string number_text(hid_t type, char kind) {
  const bool big = H5Tget_order(type) == H5T_ORDER_BE && H5Tget_size(type) > 1;
  return fmt::format("{}{}{}", kind, 8 * H5Tget_size(type), big ? "be" : "");
}

std::string integer_text(hid_t type) { return number_text(type, H5Tget_sign(type) == H5T_SGN_2 ? 'i' : 'u'); }

/// Whether an enumeration is that of h5py for truth values.
bool is_bool(hid_t type) {
  return members_of(type) == 2 && member_name(type, 0) == "FALSE" && member_name(type, 1) == "TRUE";
}

std::string table_text(hid_t type) {
  std::string fields;
  const auto n = members_of(type);
  for (unsigned i = 0; i < std::min(n, kMostFields); ++i) {
    fields += (i == 0 ? "" : ", ") + member_name(type, i) + ": " + type_text(member_type(type, i).get());
  }
  if (n > kMostFields) fields += fmt::format(" and {} more", n - kMostFields);
  return "table (" + fields + ")";
}

std::string array_text(hid_t type) {
  const H5Id base(H5Tget_super(type), H5Tclose);
  const auto each = H5Tget_size(base.get());
  return fmt::format("{} x {}", each == 0 ? 0 : H5Tget_size(type) / each, type_text(base.get()));
}

/// A native value of `bytes` bytes as a whole number of 64 bits.
template <class Wide, class Word, class Half, class Byte>
Json whole_number(const std::byte* at, std::size_t bytes) {
  const auto read = [at](auto value) {
    std::memcpy(&value, at, sizeof value);
    return Json(Wide{value});
  };
  if (bytes == sizeof(Byte)) return read(Byte{});
  if (bytes == sizeof(Half)) return read(Half{});
  if (bytes == sizeof(Word)) return read(Word{});
  return bytes == sizeof(Wide) ? read(Wide{}) : Json();
}

Json integer_at(hid_t type, const std::byte* at) {
  const auto bytes = H5Tget_size(type);
  if (H5Tget_sign(type) == H5T_SGN_2)
    return whole_number<std::int64_t, std::int32_t, std::int16_t, std::int8_t>(at, bytes);
  return whole_number<std::uint64_t, std::uint32_t, std::uint16_t, std::uint8_t>(at, bytes);
}

Json float_at(hid_t type, const std::byte* at) {
  std::array<std::byte, 32> value{};
  const auto bytes = H5Tget_size(type);
  if (bytes > value.size()) return {};
  std::memcpy(value.data(), at, bytes);
  if (H5Tconvert(type, H5T_NATIVE_DOUBLE, 1, value.data(), nullptr, H5P_DEFAULT) < 0) return {};
  double number = 0;
  std::memcpy(&number, value.data(), sizeof number);
  return number;
}

Json value_at(hid_t type, const std::byte* at);

Json text_at(hid_t type, const std::byte* at) {
  std::string text(reinterpret_cast<const char*>(at), H5Tget_size(type));
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

Json row_at(hid_t type, const std::byte* at) {
  Json row = Json::object();
  for (unsigned i = 0; i < std::min(members_of(type), kMostFields); ++i) {
    row[member_name(type, i)] = value_at(member_type(type, i).get(), at + H5Tget_member_offset(type, i));
  }
  return row;
}

Json array_at(hid_t type, const std::byte* at) {
  const H5Id base(H5Tget_super(type), H5Tclose);
  const auto each = H5Tget_size(base.get());
  Json items = Json::array();
  for (std::size_t i = 0; i < kMostInRow && (i + 1) * each <= H5Tget_size(type); ++i) {
    items.push_back(value_at(base.get(), at + i * each));
  }
  return items;
}

Json value_at(hid_t type, const std::byte* at) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: return integer_at(type, at);
    case H5T_FLOAT: return float_at(type, at);
    case H5T_STRING: return text_at(type, at);
    case H5T_COMPOUND: return row_at(type, at);
    case H5T_ARRAY: return array_at(type, at);
    case H5T_ENUM: return integer_at(H5Id(H5Tget_super(type), H5Tclose).get(), at);
    default: return {};
  }
}

/// Whether values are stored apart from their rows, where a damaged file may crash HDF5.
bool has_variable_length(hid_t type) {
  if (H5Tis_variable_str(type) > 0 || H5Tdetect_class(type, H5T_VLEN) > 0) return true;
  if (H5Tdetect_class(type, H5T_REFERENCE) > 0) return true;
  for (unsigned i = 0; H5Tget_class(type) == H5T_COMPOUND && i < members_of(type); ++i) {
    if (has_variable_length(member_type(type, i).get())) return true;
  }
  return false;
}

}  // namespace

std::string type_text(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: return integer_text(type);
    case H5T_FLOAT: return number_text(type, 'f');
    case H5T_STRING: return H5Tis_variable_str(type) > 0 ? "text" : fmt::format("text of {} bytes", H5Tget_size(type));
    case H5T_COMPOUND: return table_text(type);
    case H5T_ARRAY: return array_text(type);
    case H5T_ENUM: return is_bool(type) ? "bool" : "enum of " + integer_text(H5Id(H5Tget_super(type), H5Tclose).get());
    case H5T_VLEN: return "lists of " + type_text(H5Id(H5Tget_super(type), H5Tclose).get());
    case H5T_REFERENCE: return "references";
    default: return fmt::format("{} bytes", H5Tget_size(type));
  }
}

Json first_rows(hid_t dataset, std::span<const std::uint64_t> shape, std::uint64_t n) {
  const H5Id stored(check(H5Dget_type(dataset), "a dataset's type"), H5Tclose);
  const H5Id type(check(H5Tget_native_type(stored.get(), H5T_DIR_ASCEND), "a dataset's type"), H5Tclose);
  Json rows = Json::array();
  if (shape.empty() || H5Tget_size(type.get()) > kMostRowBytes || has_variable_length(type.get())) return rows;
  // The first numbers of the first rows: of further dimensions, the first place of each but the last.
  std::vector<hsize_t> from(shape.size(), 0);
  std::vector<hsize_t> count(shape.size(), 1);
  count.front() = std::min<hsize_t>(n, shape.front());
  if (shape.size() > 1) count.back() = std::min<hsize_t>(kMostInRow, shape.back());
  const auto in_row = shape.size() > 1 ? count.back() : 1;
  if (std::ranges::find(shape, 0U) != shape.end() || n == 0) return rows;
  const H5Id space(check(H5Dget_space(dataset), "a dataset's space"), H5Sclose);
  check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, from.data(), nullptr, count.data(), nullptr),
        "its first rows");
  const auto values = count.front() * in_row;
  const H5Id memory(check(H5Screate_simple(1, &values, nullptr), "its first rows"), H5Sclose);
  std::vector<std::byte> bytes(static_cast<std::size_t>(values) * H5Tget_size(type.get()));
  check(H5Dread(dataset, type.get(), memory.get(), space.get(), H5P_DEFAULT, bytes.data()), "reading its first rows");
  for (hsize_t row = 0; row < count.front(); ++row) {
    const auto at = [&](hsize_t i) { return bytes.data() + (row * in_row + i) * H5Tget_size(type.get()); };
    if (shape.size() == 1) {
      rows.push_back(value_at(type.get(), at(0)));
      continue;
    }
    Json items = Json::array();
    for (hsize_t i = 0; i < in_row; ++i) items.push_back(value_at(type.get(), at(i)));
    rows.push_back(std::move(items));
  }
  return rows;
}

}  // namespace eventloom
