#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/payload_kind.hpp"
#include "io/hdf5/column_reader.hpp"

namespace eventloom {

/// A dataset as a payload column. Without a stated kind, floating-point numbers of up to 32 bits are f32, others f64;
/// signed integers of up to 32 bits are i32. Integers of 64 bits are u32, or i32 if one of the first rows is negative;
/// numbers that do not fit are refused when they are read.
class Hdf5PayloadColumn {
 public:
  /// Reads the first rows if they are needed for the kind.
  Hdf5PayloadColumn(ColumnReader column, std::optional<PayloadKind> stated);

  [[nodiscard]] PayloadKind kind() const { return kind_; }
  [[nodiscard]] const ColumnReader& column() const { return column_; }

  /// Puts rows [from, from + n) into every `stride`-th of `words`; numbers of two words into pairs. Throws
  /// UserError if the kind cannot hold a number exactly; throws UnreadableRows.
  void read(std::uint64_t from, std::size_t n, std::span<std::uint32_t> words, std::size_t stride);

 private:
  [[nodiscard]] PayloadKind natural_kind();
  void read_numbers(std::uint64_t from, std::size_t n);
  [[nodiscard]] std::uint64_t bits_of(std::size_t i, std::uint64_t row) const;
  [[noreturn]] void refuse(std::size_t i, std::uint64_t row) const;

  ColumnReader column_;
  PayloadKind kind_;
  std::vector<std::uint64_t> integers_;
  std::vector<double> reals_;
};

}  // namespace eventloom
