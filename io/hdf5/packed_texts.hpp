#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"

namespace eventloom {

/// A type for texts of up to `bytes` bytes.
H5Id text_type(std::size_t bytes);

/// Consecutive texts, each padded to the longest.
struct PackedTexts {
  std::size_t width = 1;
  std::vector<char> bytes;
};

PackedTexts pack(const std::vector<std::string>& values);
/// The first `n` texts.
std::vector<std::string> unpack(const PackedTexts& packed, std::size_t n);

}  // namespace eventloom
