#include "io/hdf5/packed_texts.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cstring>

namespace eventloom {

H5Id text_type(std::size_t bytes) {
  H5Id type(check(H5Tcopy(H5T_C_S1), "copying a type"), H5Tclose);
  check(H5Tset_size(type.get(), std::max<std::size_t>(bytes, 1)), "setting the length of a text");
  check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "setting the padding of a text");
  check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "setting the character set");
  return type;
}

PackedTexts pack(const std::vector<std::string>& values) {
  PackedTexts packed;
  for (const auto& value : values) packed.width = std::max(packed.width, value.size());
  packed.bytes.resize(packed.width * std::max<std::size_t>(values.size(), 1));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::memcpy(packed.bytes.data() + i * packed.width, values[i].data(), values[i].size());
  }
  return packed;
}

std::vector<std::string> unpack(const PackedTexts& packed, std::size_t n) {
  std::vector<std::string> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    const char* text = packed.bytes.data() + i * packed.width;
    values[i].assign(text, ::strnlen(text, packed.width));
  }
  return values;
}

}  // namespace eventloom
