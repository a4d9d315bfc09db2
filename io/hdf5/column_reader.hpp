#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace eventloom {

/// A dataset of one dimension, of any integer or floating-point type, in a file of anybody's. All
/// errors throw UserError that names file and dataset.
class ColumnReader {
 public:
  ColumnReader(const std::string& file, const std::string& dataset);
  ~ColumnReader();
  ColumnReader(ColumnReader&&) noexcept;

  /// File and dataset, for messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] bool is_float() const { return is_float_; }

  /// Elements [from, from + n). Of an integer dataset; negative ones are an error with their row.
  void read(std::uint64_t from, std::size_t n, std::vector<std::uint64_t>& out);
  /// Of a floating-point dataset.
  void read(std::uint64_t from, std::size_t n, std::vector<double>& out);

 private:
  struct Handles;
  void read_as(std::int64_t memory_type, std::uint64_t from, std::size_t n, void* out);
  [[noreturn]] void fail(const std::string& what) const;

  std::string name_;
  std::unique_ptr<Handles> handles_;
  std::uint64_t size_ = 0;
  bool is_float_ = false;
  bool is_signed_ = false;
};

/// Names of the groups directly below `group`, in the order of their bytes. Throws UserError when
/// the file is not HDF5 or has no such group.
std::vector<std::string> groups_below(const std::string& file, const std::string& group);
/// Whether the file has a group of that name. Throws UserError when the file is not HDF5.
bool has_group(const std::string& file, const std::string& group);

}  // namespace eventloom
