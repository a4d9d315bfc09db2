#include "io/hdf5/output_kind.hpp"

#include <hdf5.h>

#include <exception>
#include <stdexcept>
#include <string_view>

#include "core/runtime/error.hpp"
#include "io/files/own_file.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/file_driver.hpp"
#include "io/hdf5/input_file.hpp"

namespace eventloom {

namespace {

bool is_in_the_making(const std::filesystem::path& file) { return head_of(file, kInTheMaking.size()) == kInTheMaking; }

}  // namespace

// Opening a pipe would wait for its writer.
bool is_hdf5(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(path, unknown) && H5Fis_hdf5(path.c_str()) > 0;
}

/// A user block may precede the signature, which is at offset 0, 512, 1024, 2048 and so on.
bool begins_hdf5_file(std::span<const std::byte> head) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  constexpr std::size_t kFirstBlock = 512;
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  for (std::size_t at = 0; at < text.size(); at = at == 0 ? kFirstBlock : 2 * at) {
    if (text.substr(at).starts_with(kSignature)) return true;
  }
  return false;
}

std::string output_format_of(const std::filesystem::path& file) {
  try {
    const H5Id open = open_for_reading(file);
    auto format = read_text(open.get(), "format");
    for (const char* known : {kRunFormat, kPartFormat, kMergedFormat, kIndexFormat}) {
      if (format == known) return format;
    }
  } catch (const std::exception&) {
    // An unreadable file is not recognised.
  }
  return {};
}

bool claims_to_be_output(const std::filesystem::path& file) {
  const H5Id open = open_for_reading(file);
  if (is_in_the_making(file)) return true;
  try {
    return has_attribute(open.get(), "format") && has_attribute(open.get(), "format_version");
  } catch (const std::runtime_error& e) {
    throw UserError("'" + file.string() + "' is damaged: " + e.what());
  }
}

bool is_run_file(const std::filesystem::path& file) { return output_format_of(file) == kRunFormat; }
bool is_part_file(const std::filesystem::path& file) { return output_format_of(file) == kPartFormat; }

bool is_merged_file(const std::filesystem::path& file) {
  return is_in_the_making(file) || output_format_of(file) == kMergedFormat;
}

bool is_own_hdf5(const std::filesystem::path& file) {
  return is_in_the_making(file) || !output_format_of(file).empty();
}

}  // namespace eventloom
