#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Words in the longest event.
inline constexpr std::uint64_t kMaxWordOffset = 1U << 26;

/// Event numbers in the data, as the key number=word:OFFSET[:LOW-HIGH] says: bits of a 32-bit word.
struct NumberWord {
  std::size_t offset = 0;  ///< of the word in the data of a subevent
  unsigned low = 0;        ///< lowest bit
  unsigned bits = 32;

  [[nodiscard]] std::uint32_t of(std::uint32_t word) const { return word >> low & ~std::uint32_t{0} >> (32 - bits); }
  /// "the event number in the bits 0 to 31 of data word 1"
  [[nodiscard]] std::string text() const;
};

/// Where the numbers of triggered events are, as the keys bits=N and number= say.
struct NumberPlace {
  std::optional<NumberWord> word;  ///< nothing: in the header of the event
  unsigned bits = 32;              ///< of the numbers, the lowest, which wrap around

  [[nodiscard]] std::uint32_t of_header(std::uint32_t number) const {
    return number & ~std::uint32_t{0} >> (32 - bits);
  }
};

/// Throws UserError when a key has another form, or where it is not valid: both need times that are event numbers.
NumberPlace read_number_place(const SourceUri& uri, bool numbered);

/// The value of a key in hexadecimal digits, which may begin with 0x; nothing where the URI does not have it. Throws
/// UserError where it is none, and `expected` is what it should be.
std::optional<std::uint32_t> read_hex_id(const SourceUri& uri, const char* key, const std::string& expected);

}  // namespace eventloom
