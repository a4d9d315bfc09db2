#include "io/hdf5/output_kind.hpp"

#include <exception>

#include "io/files/own_file.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/column_cursor.hpp"
#include "io/hdf5/file_driver.hpp"
#include "io/hdf5/layout.hpp"

namespace eventloom {

namespace {

bool is_in_the_making(const std::filesystem::path& file) { return head_of(file, kInTheMaking.size()) == kInTheMaking; }

}  // namespace

std::string output_format_of(const std::filesystem::path& file) {
  try {
    const H5Id open = open_for_reading(file);
    auto format = read_text(open.get(), "format");
    for (const char* known : {kRunFormat, kPartFormat, kMergedFormat, kIndexFormat}) {
      if (format == known) return format;
    }
  } catch (const std::exception&) {
    // An unreadable file proves nothing.
  }
  return {};
}

bool is_run_file(const std::filesystem::path& file) { return output_format_of(file) == kRunFormat; }
bool is_part_file(const std::filesystem::path& file) { return output_format_of(file) == kPartFormat; }
std::string run_file_of_part(const std::filesystem::path& part) {
  const H5Id open = open_for_reading(part);
  return has_attribute(open.get(), "run_file") ? read_text(open.get(), "run_file") : "";
}
bool is_merged_file(const std::filesystem::path& file) {
  return is_in_the_making(file) || output_format_of(file) == kMergedFormat;
}
bool is_own_hdf5(const std::filesystem::path& file) {
  return is_in_the_making(file) || !output_format_of(file).empty();
}

}  // namespace eventloom
