#pragma once

#include <initializer_list>
#include <limits>

#include "formats/ids.hpp"

/// Arithmetic on arbitrary durations from a user: results that overflow become the maximum.
namespace eventloom {

constexpr Tick saturating_sum(std::initializer_list<Tick> lengths) {
  Tick sum = 0;
  for (const Tick length : lengths) sum = length > std::numeric_limits<Tick>::max() - sum ? ~Tick{0} : sum + length;
  return sum;
}

constexpr Tick saturating_product(Tick length, Tick n) {
  return n != 0 && length > std::numeric_limits<Tick>::max() / n ? ~Tick{0} : length * n;
}

}  // namespace eventloom
