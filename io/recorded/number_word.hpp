#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Number of words in the longest event.
inline constexpr std::uint64_t kMaxWordOffset = 1U << 26;

/// Event numbers in bits of a 32-bit data word, selected by the key number=word:OFFSET[:LOW-HIGH].
struct NumberWord {
  std::size_t offset = 0;  ///< index of the word in the data of a subevent
  unsigned low = 0;        ///< lowest bit
  unsigned bits = 32;

  [[nodiscard]] std::uint32_t of(std::uint32_t word) const { return word >> low & ~std::uint32_t{0} >> (32 - bits); }
  /// Description, such as "the event number in the bits 0 to 31 of data word 1".
  [[nodiscard]] std::string text() const;
};

/// Place of the numbers of triggered events, selected by the keys bits=N and number=.
struct NumberPlace {
  std::optional<NumberWord> word;  ///< std::nullopt: the number is in the event header
  unsigned bits = 32;              ///< width of the numbers, which wrap around

  [[nodiscard]] std::uint32_t of_header(std::uint32_t number) const {
    return number & ~std::uint32_t{0} >> (32 - bits);
  }
  /// The key that takes only the lowest `n` bits of these numbers: "bits=20", "number=word:1:8-27".
  [[nodiscard]] std::string key_of_lowest(unsigned n) const;
};

/// Throws UserError when a key has another form or is not allowed: both keys need times that are event numbers.
NumberPlace read_number_place(const SourceUri& uri, bool numbered);

/// The hexadecimal value of a key, with or without the prefix 0x; std::nullopt if the URI lacks the key. Throws
/// UserError for another form; `expected` describes the value in its message.
std::optional<std::uint32_t> read_hex_id(const SourceUri& uri, const char* key, const std::string& expected);

}  // namespace eventloom
