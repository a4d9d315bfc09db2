// A filter of HDF5 as a plugin: each bit of a chunk is stored inverted. For tests of files whose filters a plain HDF5
// lacks; its number, 300, is one of those set aside for tests (HDF5 reference manual, H5Zregister).
#include <H5PLextern.h>

#include <algorithm>
#include <cstddef>
#include <functional>

namespace {

// The bytes are changed in place; the flags tell storing from reading, which is the same here.
std::size_t invert(unsigned, std::size_t, const unsigned*, std::size_t n_bytes, std::size_t*, void** buffer) {
  auto* const bytes = static_cast<unsigned char*>(*buffer);
  std::transform(bytes, bytes + n_bytes, bytes, std::bit_not());
  return n_bytes;
}

const H5Z_class2_t kInverting = {H5Z_CLASS_T_VERS, 300, 1, 1, "inverting", nullptr, nullptr, invert};

}  // namespace

H5PL_type_t H5PLget_plugin_type() { return H5PL_TYPE_FILTER; }
const void* H5PLget_plugin_info() { return &kInverting; }
