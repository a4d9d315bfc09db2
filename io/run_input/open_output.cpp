#include "io/run_input/open_output.hpp"

#include <spdlog/fmt/fmt.h>

#include <stdexcept>

#include "core/runtime/error.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/hdf5/seal.hpp"
#include "io/run_format/run_index.hpp"

namespace eventloom {

std::string format_of(const OpenOutput& open) {
  std::string format = has_attribute(open.file.get(), "format") ? read_text(open.file.get(), "format") : "";
  if (format != kRunFormat && format != kPartFormat && format != kMergedFormat) {
    refuse_index(open.name);
    throw UserError("'" + open.name + "' is an HDF5 file, but not one that Eventloom wrote");
  }
  const auto version = read_number(open.file.get(), "format_version");
  if (version == kOutputVersion) {
    try {
      check_seal(open.file.get());
    } catch (const std::runtime_error& e) {
      throw UserError("'" + open.name + "': " + e.what());
    }
    return format;
  }
  throw UserError(
      fmt::format("'{}': format version {}, this program reads version {}", open.name, version, kOutputVersion));
}

}  // namespace eventloom
