#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace eventloom {

inline constexpr std::size_t kBarColumns = 40;

/// A bar of a histogram in text, kBarColumns long for `greatest`; at least one mark for a nonzero number.
inline std::string text_bar(std::uint64_t n, std::uint64_t greatest) {
  if (n == 0) return {};
  const auto share = static_cast<double>(n) / static_cast<double>(greatest);
  return std::string(std::max<std::size_t>(1, static_cast<std::size_t>(std::round(share * kBarColumns))), '#');
}

}  // namespace eventloom
