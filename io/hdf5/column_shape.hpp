#pragma once

#include <cstdint>
#include <optional>

#include "io/hdf5/handle.hpp"

namespace eventloom {

/// A dataset that is one column of numbers: (n), or (1, n) and (n, 1) as of MATLAB and pandas. One without
/// a dataspace (h5py.Empty) has no rows.
struct ColumnShape {
  static constexpr unsigned kMostRank = 2;

  std::uint64_t rows = 0;
  unsigned rank = 1;
  unsigned axis = 0;  ///< along which the rows lie
};

/// std::nullopt for a dataspace of another shape.
std::optional<ColumnShape> column_shape(hid_t space);

}  // namespace eventloom
