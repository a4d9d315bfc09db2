#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "io/hdf5/file_bytes.hpp"
#include "io/hdf5/handle.hpp"

namespace eventloom {

/// Whether a dataset of values of `type` has chunks with exactly these filters, in this order.
bool has_chunks(hid_t dataset, hid_t type, std::initializer_list<int> filters);

/// The chunks of a one-dimensional dataset as they lie in its file, read without HDF5. File and dataset must stay open.
/// All functions throw UserError that names both when the file cannot be read or is damaged.
class StoredChunks {
 public:
  struct Place {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;  ///< includes the checksum
    unsigned left_out = 0;    ///< bit i: filter i was not applied
  };

  /// `name` names file and dataset in messages.
  StoredChunks(hid_t file, hid_t dataset, std::uint64_t rows, std::string name);

  [[nodiscard]] std::size_t width() const { return width_; }  ///< bytes of a value
  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] std::uint64_t chunk_rows() const { return chunk_rows_; }
  [[nodiscard]] std::uint64_t chunk_bytes() const { return chunk_rows_ * width_; }

  [[nodiscard]] Place place_of(std::uint64_t chunk) const;
  void read(std::uint64_t offset, std::span<std::byte> bytes) const;
  /// Example of `what`: "it has the wrong size"
  [[noreturn]] void fail_in_chunk(std::uint64_t chunk, const std::string& what) const;

 private:
  [[noreturn]] void fail(const std::string& what) const;

  hid_t dataset_ = H5I_INVALID_HID;
  FileBytes file_;
  std::string name_;
  std::size_t width_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t chunk_rows_ = 0;
};

}  // namespace eventloom
