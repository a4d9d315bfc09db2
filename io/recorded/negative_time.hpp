#pragma once

#include <cstdint>
#include <string>

namespace eventloom {

/// Advice on a negative number of a source's times or, if `numbered`, event numbers. The counter, if it is one, has the
/// fewest bits that hold a number of size `size`, which is above 0, but no more than `column_bits`, the width of the
/// column; 0: unknown.
std::string negative_time_advice(std::uint64_t size, unsigned column_bits, bool numbered);

}  // namespace eventloom
