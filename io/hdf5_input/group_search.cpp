#include "io/hdf5_input/group_search.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <stdexcept>

#include "core/runtime/error.hpp"
#include "io/hdf5/apart.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/column_path.hpp"
#include "io/hdf5/hdf5_version.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/hdf5/objects.hpp"

namespace eventloom {

namespace {

constexpr const char* kDoesNotOpen = "it does not open";

std::string below(std::string path, const std::string& name) {
  path += '/';
  path += name;
  return path;
}

/// Reads everything that readers of a dataset examine except its rows, which may crash HDF5. The readers report other
/// failures.
void look_at(hid_t dataset) {
  try {
    (void)fields_of(type_of(dataset).get());
    for (const char* name : {"units", "unit", "offset", "start"}) (void)short_text(dataset, name);
    if (has_attribute(dataset, "tick_ps")) (void)read_number(dataset, "tick_ps");
    for (const char* name : {"scale_factor", "add_offset", "_FillValue", "missing_value", "MATLAB_empty"}) {
      (void)any_numbers(dataset, name);
    }
  } catch (const std::runtime_error&) {
  }
}

/// Explains why the datasets of a group do not open. A missing dataset is reported when it is opened.
std::string column_defect(hid_t group, std::span<const std::string> columns) {
  for (const auto& name : columns) {
    const auto column = open_column(group, name);
    const auto exists = find_link(group, column.path);
    if (exists == 0) continue;
    const H5Id object = exists > 0 ? open_object(group, column.path) : H5Id();
    auto defect = object.get() < 0 ? hdf5_reason() : std::string();
    if (object.get() >= 0 && is_dataset(object.get())) {
      defect = index_defect(object.get());
      look_at(object.get());
    }
    if (!defect.empty()) return "its dataset '" + column.path + "' does not open: " + with_remedy(defect);
  }
  return {};
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
    // A group of exactly this name takes precedence over the pattern, as a file does.
    const bool pattern = part.find_first_of("*?[") != std::string::npos;
    const auto exists = find_link(parent.get(), part);
    if (!pattern || exists > 0) {
      if (exists != 0) add(parent.get(), group.path, part, deeper);
      return;
    }
    std::vector<Link> links;
    const bool whole = list_links(parent.get(), links) >= 0;
    std::ranges::sort(links, {}, &Link::name);
    for (const auto& link : links) {
      const bool matches = fnmatch(part.c_str(), link.name.c_str(), 0) == 0;
      // A dangling hard link may be a requested group with a damaged name.
      if (matches || (link.is_hard && open_object(parent.get(), link.name).get() < 0)) {
        add(parent.get(), group.path, link.name, deeper);
      }
    }
    if (!whole) deeper.push_back({below(group.path, part), "its list of names is damaged"});
  }

  static void add(hid_t parent, const std::string& path, const std::string& name, std::vector<FoundGroup>& deeper) {
    const H5Id object = open_object(parent, name);
    if (object.get() < 0) {
      deeper.push_back({below(path, name), std::string(kDoesNotOpen) + ": " + with_remedy(hdf5_reason())});
    } else if (is_group(object.get())) {
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

}  // namespace

std::vector<FoundGroup> find_groups(const std::string& file, const std::string& pattern,
                                    std::span<const std::string> columns) {
  const auto limits = ApartLimits::of_file(file);
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

bool names_dataset(const std::string& file, const std::string& path) {
  const H5Id id = open_for_reading(file);
  const H5Id object = open_object(id.get(), path);
  return object.get() >= 0 && is_dataset(object.get());
}

std::uint64_t group_identity(const std::string& file, const std::string& group) {
  return object_number(open_for_reading(file).get(), group);
}

}  // namespace eventloom
