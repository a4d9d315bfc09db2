#pragma once

#include <H5Ipublic.h>

#include <string>
#include <vector>

namespace eventloom {

/// The texts of variable length of an open attribute of `n` elements. HDF5 keeps them in global heaps, the only
/// metadata of our files without checksums; HDF5 1.10 trusts the sizes in there, and crashes or does not terminate
/// where a bit has flipped. So it is only asked where the texts are; they are read here, with all sizes checked (HDF5
/// file format specification 3.0, III.E, global heap). Throws std::runtime_error when the heap is damaged.
std::vector<std::string> read_heap_texts(hid_t attribute, std::size_t n);

}  // namespace eventloom
