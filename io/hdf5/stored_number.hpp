#pragma once

#include <cstdint>
#include <string>

namespace eventloom {

/// A number of an attribute or of a dataset's fill value.
struct StoredNumber {
  bool is_float = false;
  bool is_negative = false;  ///< whole numbers only
  std::uint64_t whole = 0;   ///< a whole number; two's complement when negative
  double real = 0;           ///< a floating-point number
  std::string text;          ///< the shortest decimal number that is this one in the file's type: "1e-06"
};

}  // namespace eventloom
