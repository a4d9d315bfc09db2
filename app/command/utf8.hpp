#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace eventloom {

struct Utf8Character {
  std::size_t bytes = 1;
  std::uint32_t code = 0;
  bool valid = false;  ///< otherwise it is a single byte
};

/// The character at the front of a text that is not empty (RFC 3629, section 4).
Utf8Character front_character(std::string_view text);

/// Whether all characters of a text are valid, as JSON and HDF5 require.
bool is_utf8(std::string_view text);

}  // namespace eventloom
