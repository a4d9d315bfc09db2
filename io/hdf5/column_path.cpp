#include "io/hdf5/column_path.hpp"

#include <hdf5.h>

#include <algorithm>

namespace eventloom {

namespace {

/// Type of the object that a link leads to; H5I_BADID when the link is missing or broken.
H5I_type_t kind_of(hid_t place, const std::string& path) {
  if (path == "/") return H5I_GROUP;
  if (H5Lexists(place, path.c_str(), H5P_DEFAULT) <= 0) return H5I_BADID;
  const H5Id object(H5Oopen(place, path.c_str(), H5P_DEFAULT), H5Oclose);
  return object.get() < 0 ? H5I_BADID : H5Iget_type(object.get());
}

std::vector<std::string> names_of_members(hid_t type, H5T_class_t type_class) {
  constexpr int kMost = 20;
  std::vector<std::string> names;
  if (H5Tget_class(type) != type_class) return names;
  const int n = std::min(H5Tget_nmembers(type), kMost);
  for (int i = 0; i < n; ++i) {
    char* name = H5Tget_member_name(type, static_cast<unsigned>(i));
    if (name == nullptr) continue;
    names.emplace_back(name);
    H5free_memory(name);
  }
  return names;
}

}  // namespace

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    if (end > at) names.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

OpenedColumn open_column(hid_t place, const std::string& name) {
  OpenedColumn column;
  column.path = name;
  for (auto end = name.find('/', 1); end != std::string::npos; end = name.find('/', end + 1)) {
    const auto kind = kind_of(place, name.substr(0, end));
    if (kind == H5I_GROUP) continue;
    if (kind != H5I_DATASET) break;
    column.path = name.substr(0, end);
    column.field = names_in(name.substr(end + 1));
    break;
  }
  column.dataset = H5Id(H5Dopen2(place, column.path.c_str(), H5P_DEFAULT), H5Dclose);
  return column;
}

std::vector<std::string> fields_of(hid_t type) { return names_of_members(type, H5T_COMPOUND); }
std::vector<std::string> names_in_enumeration(hid_t type) { return names_of_members(type, H5T_ENUM); }

H5Id type_of_field(hid_t type, const std::vector<std::string>& field) {
  H5Id at(H5Tcopy(type), H5Tclose);
  for (const auto& name : field) {
    const int member = H5Tget_class(at.get()) == H5T_COMPOUND ? H5Tget_member_index(at.get(), name.c_str()) : -1;
    if (member < 0) return {};
    at = H5Id(H5Tget_member_type(at.get(), static_cast<unsigned>(member)), H5Tclose);
  }
  return at;
}

H5Id only_field(const std::vector<std::string>& field, hid_t type) {
  H5Id whole(check(H5Tcopy(type), "copying a type"), H5Tclose);
  for (auto left = field.size(); left > 0; --left) {
    const auto bytes = H5Tget_size(whole.get());
    H5Id outer(check(H5Tcreate(H5T_COMPOUND, bytes), "a type of one field"), H5Tclose);
    check(H5Tinsert(outer.get(), field[left - 1].c_str(), 0, whole.get()), "a type of one field");
    whole = std::move(outer);
  }
  return whole;
}

}  // namespace eventloom
