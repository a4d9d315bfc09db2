#include "io/hdf5/stored_size.hpp"

#include <hdf5.h>

#include <limits>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

/// Greatest expansion of deflate: RFC 1951 encodes 258 bytes in two bits.
constexpr std::uint64_t kMostOfDeflated = 1032;

/// Saturates on overflow.
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::uint64_t>::max() : result;
}

/// Greatest number of value bytes per byte in the file.
std::uint64_t most_of_byte(hid_t creation, const std::string& name) {
  std::uint64_t most = 1;
  const int filters = check(H5Pget_nfilters(creation), name.c_str());
  for (unsigned i = 0; i < static_cast<unsigned>(filters); ++i) {
    unsigned flags = 0;
    std::size_t parameters = 0;
    const auto filter = H5Pget_filter2(creation, i, &flags, &parameters, nullptr, 0, nullptr, nullptr);
    if (filter == H5Z_FILTER_DEFLATE) {
      most = product(most, kMostOfDeflated);
    } else if (filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32) {
      throw UserError(fmt::format("{} is stored with a filter that Eventloom does not use ({})", name, filter));
    }
  }
  return most;
}

std::uint64_t rows_in_chunk(hid_t creation, const std::string& name) {
  if (H5Pget_layout(creation) != H5D_CHUNKED) return 0;
  hsize_t rows = 0;
  check(H5Pget_chunk(creation, 1, &rows), name.c_str());
  return rows;
}

bool is_elsewhere(hid_t creation) {
  return H5Pget_layout(creation) == H5D_VIRTUAL || H5Pget_external_count(creation) > 0;
}

}  // namespace

void expect_stored(hid_t dataset, const std::string& name) {
  const H5Id creation(check(H5Dget_create_plist(dataset), name.c_str()), H5Pclose);
  const H5Id space(check(H5Dget_space(dataset), name.c_str()), H5Sclose);
  const H5Id type(check(H5Dget_type(dataset), name.c_str()), H5Tclose);
  const H5Id file(check(H5Iget_file_id(dataset), name.c_str()), H5Fclose);
  if (is_elsewhere(creation.get())) throw UserError(name + " has its rows elsewhere, as Eventloom does not write them");
  hsize_t file_bytes = 0;
  check(H5Fget_filesize(file.get(), &file_bytes), name.c_str());
  const auto rows = static_cast<std::uint64_t>(check(H5Sget_simple_extent_npoints(space.get()), name.c_str()));
  const std::uint64_t width = H5Tget_size(type.get());
  const std::uint64_t stored = H5Dget_storage_size(dataset);
  const auto most = product(stored, most_of_byte(creation.get(), name));
  const auto chunk = stored == 0 ? 0 : product(rows_in_chunk(creation.get(), name), width);
  if (stored <= file_bytes && product(rows, width) <= most && chunk <= most) return;
  throw UserError(fmt::format("{} is damaged: it declares {} rows, which cannot be in the {} bytes that it has", name,
                              rows, stored));
}

}  // namespace eventloom
