#include "io/hdf5/seal.hpp"

#include <hdf5.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "formats/crc32c.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/objects.hpp"

namespace eventloom {

namespace {

/// Attribute of earlier versions: pairs as in kAttributesSums, for texts only, CRC-32C.
constexpr const char* kOldTextsSums = "texts_crc32c";
/// Not listed: this group, for programs that read NeXus, links to the datasets of other groups.
constexpr std::string_view kNexusEntry = "entry";

using Sum = std::uint32_t (*)(std::span<const std::byte>, std::uint32_t);
/// Maps the sum of an attribute's name to the sum of its contents.
using Sums = std::map<std::uint64_t, std::uint64_t>;

H5T_class_t class_of(hid_t object, const std::string& attribute) {
  const H5Id open(check(H5Aopen(object, attribute.c_str(), H5P_DEFAULT), attribute.c_str()), H5Aclose);
  const H5Id type(check(H5Aget_type(open.get()), attribute.c_str()), H5Tclose);
  return H5Tget_class(type.get());
}

/// std::nullopt for attributes of other kinds, which Eventloom does not write.
std::optional<std::string> contents_of(hid_t object, const std::string& attribute) {
  const auto kind = class_of(object, attribute);
  std::string all;
  if (kind == H5T_STRING) {
    for (const auto& text : read_texts(object, attribute.c_str())) all += text + '\0';
    return all;
  }
  if (kind != H5T_INTEGER) return std::nullopt;
  for (const auto number : read_numbers(object, attribute.c_str())) {
    all.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  return all;
}

Sums sums_of_attributes(hid_t object, Sum sum) {
  const auto sum_of = [&](const std::string& text) { return sum(std::as_bytes(std::span(text)), 0); };
  Sums sums;
  for (const auto& name : attribute_names(object)) {
    if (name == kAttributesSums || name == kOldTextsSums) continue;
    if (const auto contents = contents_of(object, name)) sums[sum_of(name)] = sum_of(*contents);
  }
  return sums;
}

void check_attributes(hid_t object, const char* seal, Sum sum) {
  if (!has_attribute(object, seal)) return;
  const auto sealed = read_numbers(object, seal);
  const auto found = sums_of_attributes(object, sum);
  for (std::size_t i = 0; i + 1 < sealed.size(); i += 2) {
    const auto contents = found.find(sealed[i]);
    if (contents == found.end()) throw UserError("an attribute that was written is no longer there");
    if (contents->second == sealed[i + 1]) continue;
    throw UserError("its attributes are damaged: they do not have the checksums that were written with them");
  }
}

struct FoundDataset {
  std::string path;
  std::uint64_t rows = 0;
  std::optional<std::uint32_t> sum;
};

/// Lists the datasets in the root and two levels of groups. Only for a file that was just written.
std::vector<FoundDataset> datasets_of(hid_t file) {
  std::vector<FoundDataset> found;
  const auto add_all = [&](const auto& again, hid_t group, const std::string& place, int levels) -> void {
    std::vector<Link> links;
    check(list_links(group, links), "listing datasets");
    for (const auto& [name, is_hard] : links) {
      const auto path = place + "/" + name;
      if (!is_hard || (name == kNexusEntry && place.empty())) continue;
      const H5Id object = open_object(group, name);
      check(object.get(), path.c_str());
      if (is_group(object.get()) && levels > 0) again(again, object.get(), path, levels - 1);
      if (!is_dataset(object.get())) continue;
      found.push_back({path, elements_of(object.get(), path), sum_of_values(object.get())});
    }
  };
  add_all(add_all, file, "", 2);
  std::ranges::sort(found, {}, &FoundDataset::path);
  return found;
}

std::string line_of(const FoundDataset& dataset) {
  return fmt::format("{} {} {:08x}", dataset.path, dataset.rows, dataset.sum.value_or(0));
}

std::uint32_t sum_of_lines(std::span<const std::string> lines) {
  std::uint32_t sum = 0;
  for (auto line : lines) {
    line += '\n';
    sum = crc32_of_zlib(std::as_bytes(std::span(line)), sum);
  }
  return sum;
}

/// Returns std::nullopt when it is missing. Does not list the group, which may crash HDF5 on a damaged file.
std::optional<FoundDataset> find_dataset(hid_t file, const std::string& path) {
  if (!has_object(file, path)) return std::nullopt;
  const H5Id object = open_object(file, path);
  check(object.get(), path.c_str());
  if (!is_dataset(object.get())) return std::nullopt;
  return FoundDataset{path, elements_of(object.get(), path), sum_of_values(object.get())};
}

/// Describes how a dataset differs from its line.
std::string difference(const std::string& path, const std::optional<FoundDataset>& found, const std::string& line) {
  if (!found) return path + " is missing";
  if (!found->sum) return path + " was rewritten by another program";
  return fmt::format("rows and checksum of {} are {}, {} was written", path, line_of(*found).substr(path.size() + 1),
                     line.substr(path.size() + 1));
}

/// Throws UserError when the datasets in the file differ from the lines.
void expect_datasets(hid_t file, std::span<const std::string> lines) {
  for (const auto& line : lines) {
    const auto path = line.substr(0, line.find(' '));
    const auto dataset = find_dataset(file, path);
    if (dataset && dataset->sum && line_of(*dataset) == line) continue;
    throw UserError("it has been changed: " + difference(path, dataset, line));
  }
}

}  // namespace

bool is_seal(const std::string& attribute) {
  return attribute == kDatasets || attribute == kAttributesSums || attribute == kOldTextsSums;
}

void seal_values(hid_t dataset, std::uint32_t sum) { write_attribute(dataset, kValuesSum, std::uint64_t{sum}); }

std::optional<std::uint32_t> sum_of_values(hid_t dataset) {
  if (!has_attribute(dataset, kValuesSum)) return std::nullopt;
  return static_cast<std::uint32_t>(read_number(dataset, kValuesSum));
}

void expect_values(std::optional<std::uint32_t> sealed, std::uint32_t found, const std::string& name) {
  if (!sealed || *sealed == found) return;
  throw UserError(fmt::format("{} is damaged: its values have the checksum {:08x}, those written had {:08x}", name,
                              found, *sealed));
}

std::uint32_t seal_file(hid_t file) {
  std::vector<std::string> lines;
  for (const auto& dataset : datasets_of(file)) {
    if (dataset.sum) lines.push_back(line_of(dataset));
  }
  write_attribute(file, kDatasets, lines);
  seal_attributes(file);
  return sum_of_lines(lines);
}

void seal_attributes(hid_t object) {
  check(H5Fflush(object, H5F_SCOPE_LOCAL), "writing attributes");  // reading texts bypasses HDF5
  std::vector<std::uint64_t> sums;
  for (const auto& [name, contents] : sums_of_attributes(object, crc32_of_zlib))
    sums.insert(sums.end(), {name, contents});
  write_attribute(object, kAttributesSums, sums);
}

void check_attributes(hid_t object) { check_attributes(object, kAttributesSums, crc32_of_zlib); }

void check_seal(hid_t file) {
  check_attributes(file, kOldTextsSums, crc32c);
  check_attributes(file);
  if (has_attribute(file, kDatasets)) expect_datasets(file, read_texts(file, kDatasets));
}

void check_part(hid_t file, const std::filesystem::path& path, std::optional<std::uint32_t> listed) {
  try {
    check_seal(file);
    if (!listed) return;
    if (!has_attribute(file, kDatasets)) throw UserError("the attribute 'datasets' is missing");
    if (sum_of_lines(read_texts(file, kDatasets)) == *listed) return;
    throw UserError("its datasets are not those that were written");
  } catch (const std::runtime_error& e) {
    throw UserError("'" + path.string() + "' is not as its run lists it: " + e.what());
  }
}

}  // namespace eventloom
