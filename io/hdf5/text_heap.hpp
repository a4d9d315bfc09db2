#pragma once

#include <H5Ipublic.h>

#include <string>
#include <vector>

namespace eventloom {

/// Reads the variable-length texts of an open attribute of `n` elements. HDF5 keeps them in global heaps, the only
/// metadata of our files without checksums. HDF5 1.10 trusts the sizes in a heap, and crashes or loops when a bit has
/// flipped. So HDF5 only provides the location of the texts; they are read here, and all sizes are checked (HDF5 file
/// format specification 3.0, III.E, global heap). Throws std::runtime_error when the heap is damaged.
std::vector<std::string> read_heap_texts(hid_t attribute, std::size_t n);

}  // namespace eventloom
