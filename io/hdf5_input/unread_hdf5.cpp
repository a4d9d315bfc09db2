#include "io/hdf5_input/unread_hdf5.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>

#include "io/files/found_files.hpp"
#include "io/hdf5/apart.hpp"
#include "io/hdf5/column_path.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5_input/hdf5_reader.hpp"

namespace eventloom {

namespace {

/// A path without its last name, with a slash at its end unless it is empty.
std::string path_before(const std::string& column) {
  const auto slash = column.rfind('/');
  return slash == std::string::npos ? std::string() : column.substr(0, slash + 1);
}

std::uint64_t rows_at(hid_t group, const std::string& column) {
  const auto opened = open_column(group, column);
  return opened.dataset.get() < 0 ? 0 : rows_of_column(opened.dataset.get()).value_or(0);
}

/// The datasets of `rows` rows in a group, or the fields of a table.
std::vector<std::string> columns_beside(hid_t group, const std::string& place, std::uint64_t rows) {
  const H5Id object = place.empty() ? open_object(group, ".") : open_object(group, place);
  std::vector<std::string> names;
  if (object.get() < 0) return names;
  if (is_dataset(object.get())) return fields_of(type_of(object.get()).get());
  std::vector<Link> links;
  if (!is_group(object.get()) || list_links(object.get(), links) < 0) return names;
  for (const auto& link : links) {
    const H5Id column = open_object(object.get(), link.name);
    if (column.get() >= 0 && is_dataset(column.get()) && rows_of_column(column.get()) == rows)
      names.push_back(link.name);
  }
  return names;
}

std::vector<std::string> unread_of_group(hid_t file, const SourceUri& uri) {
  const H5Id group = open_object(file, uri.get("group", "/"));
  const auto used = hdf5_columns(uri);
  if (group.get() < 0) return {};
  std::set<std::string> unread;
  const auto rows = rows_at(group.get(), used.front());
  for (const auto& column : used) {
    const auto place = path_before(column);
    for (const auto& name : columns_beside(group.get(), place, rows)) unread.insert(place + name);
  }
  std::erase_if(unread, [&used](const std::string& name) {
    // A table is read when one of its fields is.
    return std::ranges::any_of(used,
                               [&](const auto& column) { return column == name || column.starts_with(name + "/"); });
  });
  return {unread.begin(), unread.end()};
}

/// Searches the first file of each source.
std::vector<std::vector<std::string>> search(std::span<const SourceUri> uris) {
  std::vector<std::vector<std::string>> unread;
  H5Id file;
  for (std::size_t i = 0; i < uris.size(); ++i) {
    const auto& path = uris[i].path();
    const auto paths = found_files(path);
    if (i == 0 || path != uris[i - 1].path()) file = paths.empty() ? H5Id() : open_for_reading(paths.front());
    unread.push_back(paths.empty() ? std::vector<std::string>() : unread_of_group(file.get(), uris[i]));
  }
  return unread;
}

}  // namespace

std::vector<std::vector<std::string>> unread_hdf5(std::span<const SourceUri> uris) {
  constexpr std::size_t kAtOnce = 256;  // each search costs a process, and has a time limit
  std::vector<std::vector<std::string>> unread;
  for (std::size_t begin = 0; begin < uris.size(); begin += kAtOnce) {
    const auto some = uris.subspan(begin, std::min(kAtOnce, uris.size() - begin));
    if (dies_apart([&] { (void)search(some); }, {std::chrono::seconds(10), std::chrono::seconds(30)})) {
      unread.resize(begin + some.size());
      continue;
    }
    for (auto& names : search(some)) unread.push_back(std::move(names));
  }
  return unread;
}

}  // namespace eventloom
