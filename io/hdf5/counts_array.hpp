#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/output_file.hpp"

/// Datasets of counts with one or more dimensions, stored deflated as one chunk.
namespace eventloom {

struct CountsArray {
  std::vector<std::uint64_t> shape;   ///< number of elements along each dimension, each at least 1
  std::vector<std::uint64_t> counts;  ///< the last dimension fastest
};

/// The group of `path` must exist.
void write_counts(const OutputFile& file, const std::string& path, const CountsArray& array,
                  const std::string& meaning);

/// Throws UserError, with `name` for the file, unless `path` is such a dataset of this shape and intact.
std::vector<std::uint64_t> read_counts(hid_t file, const std::string& name, const std::string& path,
                                       std::span<const std::uint64_t> shape);

}  // namespace eventloom
