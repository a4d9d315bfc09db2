#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

#include "formats/ids.hpp"

/// Arithmetic on arbitrary durations and counts from a user: results that overflow become the maximum.
namespace eventloom {

template <class T>
constexpr T saturating_sum(std::initializer_list<T> parts) {
  constexpr T kMax = std::numeric_limits<T>::max();
  T sum = 0;
  for (const T part : parts) sum = part > kMax - sum ? kMax : sum + part;
  return sum;
}

constexpr Tick saturating_product(Tick length, std::uint64_t n) {
  constexpr Tick kMax = std::numeric_limits<Tick>::max();
  return n != 0 && length > kMax / n ? kMax : length * n;
}

}  // namespace eventloom
