#include "io/hdf5/column_shape.hpp"

#include <hdf5.h>

#include <array>

namespace eventloom {

std::optional<ColumnShape> column_shape(hid_t space) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return ColumnShape{};
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 1 || rank > static_cast<int>(ColumnShape::kMostRank)) return std::nullopt;
  std::array<hsize_t, ColumnShape::kMostRank> size{1, 1};
  H5Sget_simple_extent_dims(space, size.data(), nullptr);
  if (rank == 1) return ColumnShape{size[0], 1, 0};
  if (size[0] != 1 && size[1] != 1) return std::nullopt;
  const unsigned axis = size[1] == 1 ? 0 : 1;
  return ColumnShape{size.at(axis), 2, axis};
}

}  // namespace eventloom
