#include "io/hdf5/group_search.hpp"

#include <fnmatch.h>
#include <hdf5.h>

#include <algorithm>
#include <filesystem>

#include "core/runtime/error.hpp"
#include "io/hdf5/apart.hpp"
#include "io/hdf5/column_cursor.hpp"
#include "io/hdf5/handle.hpp"

namespace eventloom {

namespace {

constexpr const char* kDoesNotOpen = "it does not open";

struct Link {
  std::string name;
  bool is_hard = false;
};

herr_t keep_link(hid_t, const char* name, const H5L_info_t* info, void* links) {
  static_cast<std::vector<Link>*>(links)->push_back({name, info->type == H5L_TYPE_HARD});
  return 0;
}

/// The names in "/a/b"; empty ones are skipped.
std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    if (end > at) names.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

std::string below(std::string path, const std::string& name) {
  path += '/';
  path += name;
  return path;
}

H5Id open_object(hid_t parent, const std::string& name) {
  return H5Id(H5Oopen(parent, name.c_str(), H5P_DEFAULT), H5Oclose);
}

/// Why the chunk index of a dataset cannot be read to its end; empty when it can. Closing a handle clears the reason.
std::string index_defect(hid_t dataset) {
  const H5Id layout(H5Dget_create_plist(dataset), H5Pclose);
  const H5Id space(H5Dget_space(dataset), H5Sclose);
  hsize_t chunks = 0;
  if (H5Pget_layout(layout.get()) != H5D_CHUNKED) return {};
  return H5Dget_num_chunks(dataset, space.get(), &chunks) >= 0 ? std::string() : hdf5_reason();
}

/// Why the datasets of a group do not open; a missing dataset is reported when it is opened.
std::string column_defect(hid_t group, std::span<const std::string> columns) {
  for (const auto& column : columns) {
    const auto exists = H5Lexists(group, column.c_str(), H5P_DEFAULT);
    if (exists == 0) continue;
    const H5Id object = exists > 0 ? open_object(group, column) : H5Id();
    auto defect = object.get() < 0 ? hdf5_reason() : std::string();
    if (object.get() >= 0 && H5Iget_type(object.get()) == H5I_DATASET) defect = index_defect(object.get());
    if (!defect.empty()) return "its dataset '" + column + "' does not open: " + defect;
  }
  return {};
}

ApartLimits limits_for(const std::string& file) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  return ApartLimits::of_file(error ? 0 : bytes);
}

class GroupSearch {
 public:
  GroupSearch(const std::string& file, std::span<const std::string> columns)
      : file_(open_for_reading(file)), columns_(columns) {}

  std::vector<FoundGroup> find(const std::string& pattern) {
    std::vector<FoundGroup> level{{"", {}}};
    for (const auto& part : names_in(pattern)) {
      std::vector<FoundGroup> deeper;
      for (const auto& group : level) descend(group, part, deeper);
      level = std::move(deeper);
    }
    for (auto& group : level) finish(group);
    return level;
  }

 private:
  void descend(const FoundGroup& group, const std::string& part, std::vector<FoundGroup>& deeper) {
    if (!group.defect.empty()) return deeper.push_back(group);
    const H5Id parent = open_object(file_.get(), group.path.empty() ? "/" : group.path);
    if (parent.get() < 0) return deeper.push_back({group.path, kDoesNotOpen});
    if (part.find_first_of("*?[") == std::string::npos) {
      if (H5Lexists(parent.get(), part.c_str(), H5P_DEFAULT) != 0) add(parent.get(), group.path, part, deeper);
      return;
    }
    std::vector<Link> links;
    const bool whole = H5Literate(parent.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, keep_link, &links) >= 0;
    std::ranges::sort(links, {}, &Link::name);
    for (const auto& link : links) {
      const bool matches = fnmatch(part.c_str(), link.name.c_str(), 0) == 0;
      // A dangling hard link may be one of those requested, its name damaged.
      if (matches || (link.is_hard && open_object(parent.get(), link.name).get() < 0)) {
        add(parent.get(), group.path, link.name, deeper);
      }
    }
    if (!whole) deeper.push_back({below(group.path, part), "its list of names is damaged"});
  }

  static void add(hid_t parent, const std::string& path, const std::string& name, std::vector<FoundGroup>& deeper) {
    const H5Id object = open_object(parent, name);
    if (object.get() < 0) {
      deeper.push_back({below(path, name), std::string(kDoesNotOpen) + ": " + hdf5_reason()});
    } else if (H5Iget_type(object.get()) == H5I_GROUP) {
      deeper.push_back({below(path, name), {}});
    }
  }

  void finish(FoundGroup& group) const {
    if (group.path.empty()) group.path = std::string(1, '/');
    if (!group.defect.empty()) return;
    const H5Id opened = open_object(file_.get(), group.path);
    group.defect = opened.get() < 0 ? kDoesNotOpen : column_defect(opened.get(), columns_);
  }

  H5Id file_;
  std::span<const std::string> columns_;
};

bool is_column(hid_t group, const std::string& name, std::uint64_t rows) {
  const H5Id object = open_object(group, name);
  if (object.get() < 0 || H5Iget_type(object.get()) != H5I_DATASET) return false;
  const H5Id space(H5Dget_space(object.get()), H5Sclose);
  return H5Sget_simple_extent_ndims(space.get()) == 1 &&
         static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(space.get())) == rows;
}

std::vector<std::string> list_columns(const std::string& file, const std::string& group, std::uint64_t rows) {
  const H5Id opened = open_for_reading(file);
  const H5Id parent = open_object(opened.get(), group);
  std::vector<Link> links;
  if (parent.get() < 0 || H5Literate(parent.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, keep_link, &links) < 0)
    return {};
  std::vector<std::string> names;
  for (const auto& link : links) {
    if (is_column(parent.get(), link.name, rows)) names.push_back(link.name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::vector<std::string> columns_of(const std::string& file, const std::string& group, std::uint64_t rows) {
  if (dies_apart([&] { list_columns(file, group, rows); }, limits_for(file))) return {};
  return list_columns(file, group, rows);
}

std::vector<FoundGroup> find_groups(const std::string& file, const std::string& pattern,
                                    std::span<const std::string> columns) {
  const auto limits = limits_for(file);
  const auto find = [&](const std::string& what, std::span<const std::string> with) {
    return GroupSearch(file, with).find(what);
  };
  if (!dies_apart([&] { find(pattern, columns); }, limits)) return find(pattern, columns);
  if (const auto death = dies_apart([&] { find(pattern, {}); }, limits)) {
    throw UserError("cannot open '" + file + "': it is damaged, " + *death);
  }
  auto groups = find(pattern, {});
  for (auto& group : groups) {
    if (!group.defect.empty()) continue;
    const auto death = dies_apart([&] { find(group.path, columns); }, limits);
    group.defect = death ? "it is damaged, " + *death : find(group.path, columns).front().defect;
  }
  return groups;
}

std::uint64_t group_identity(const std::string& file, const std::string& group) {
  const H5Id id = open_for_reading(file);
  H5O_info_t info{};
  return H5Oget_info_by_name(id.get(), group.c_str(), &info, H5P_DEFAULT) < 0 ? 0 : info.addr;
}

}  // namespace eventloom
