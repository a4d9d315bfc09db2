#include "io/hdf5/column_reader.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cstring>

#include "core/runtime/error.hpp"
#include "io/hdf5/column_cursor.hpp"
#include "io/hdf5/handle.hpp"

namespace eventloom {

namespace {

herr_t keep_name(hid_t, const char* name, const H5L_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

bool is_group(hid_t parent, const std::string& name) {
  return H5Id(H5Gopen2(parent, name.c_str(), H5P_DEFAULT), H5Gclose).get() >= 0;
}

}  // namespace

struct ColumnReader::Handles {
  H5Id file;
  H5Id dataset;
  H5Id space;
};

ColumnReader::ColumnReader(const std::string& file, const std::string& dataset)
    : name_(file + ":" + dataset), handles_(std::make_unique<Handles>()) {
  handles_->file = open_for_reading(file);
  handles_->dataset = H5Id(H5Dopen2(handles_->file.get(), dataset.c_str(), H5P_DEFAULT), H5Dclose);
  if (handles_->dataset.get() < 0) fail("there is no such dataset");
  handles_->space = H5Id(check(H5Dget_space(handles_->dataset.get()), "a dataset's space"), H5Sclose);
  if (H5Sget_simple_extent_ndims(handles_->space.get()) != 1) fail("the dataset must have one dimension");
  hsize_t size = 0;
  H5Sget_simple_extent_dims(handles_->space.get(), &size, nullptr);
  size_ = size;
  const H5Id type(check(H5Dget_type(handles_->dataset.get()), "a dataset's type"), H5Tclose);
  const auto type_class = H5Tget_class(type.get());
  if (type_class != H5T_INTEGER && type_class != H5T_FLOAT)
    fail("the dataset must hold integers or floating-point numbers");
  is_float_ = type_class == H5T_FLOAT;
  is_signed_ = !is_float_ && H5Tget_sign(type.get()) == H5T_SGN_2;
}

ColumnReader::~ColumnReader() = default;
ColumnReader::ColumnReader(ColumnReader&&) noexcept = default;

void ColumnReader::read_as(std::int64_t memory_type, std::uint64_t from, std::size_t n, void* out) {
  const hsize_t start = from;
  const hsize_t count = n;
  const H5Id memory(check(H5Screate_simple(1, &count, nullptr), "a space in memory"), H5Sclose);
  check(H5Sselect_hyperslab(handles_->space.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr), "a selection");
  if (H5Dread(handles_->dataset.get(), memory_type, memory.get(), handles_->space.get(), H5P_DEFAULT, out) < 0) {
    fail("rows from " + std::to_string(from) + " on cannot be read: " + hdf5_reason());
  }
}

void ColumnReader::read(std::uint64_t from, std::size_t n, std::vector<std::uint64_t>& out) {
  out.resize(n);
  if (n == 0) return;
  // Read as signed, so that negative numbers show; HDF5 would clip them at 0.
  read_as(is_signed_ ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, from, n, out.data());
  if (!is_signed_) return;
  const auto negative = std::ranges::find_if(out, [](std::uint64_t v) { return static_cast<std::int64_t>(v) < 0; });
  if (negative != out.end()) {
    fail("row " + std::to_string(from + static_cast<std::uint64_t>(negative - out.begin())) + " is negative (" +
         std::to_string(static_cast<std::int64_t>(*negative)) + ")");
  }
}

void ColumnReader::read(std::uint64_t from, std::size_t n, std::vector<double>& out) {
  out.resize(n);
  if (n != 0) read_as(H5T_NATIVE_DOUBLE, from, n, out.data());
}

void ColumnReader::fail(const std::string& what) const { throw UserError("'" + name_ + "': " + what); }

std::vector<std::string> groups_below(const std::string& file, const std::string& group) {
  const H5Id id = open_for_reading(file);
  std::vector<std::string> names;
  const H5Id parent(H5Gopen2(id.get(), group.c_str(), H5P_DEFAULT), H5Gclose);
  if (parent.get() < 0) throw UserError("'" + file + "' has no group '" + group + "'");
  check(H5Literate(parent.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, keep_name, &names), "the names in a group");
  std::erase_if(names, [&](const auto& name) { return !is_group(parent.get(), name); });
  std::ranges::sort(names);
  return names;
}

bool has_group(const std::string& file, const std::string& group) {
  const H5Id id = open_for_reading(file);
  return is_group(id.get(), group);
}

}  // namespace eventloom
