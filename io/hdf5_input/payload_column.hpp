#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "formats/payload_kind.hpp"
#include "io/hdf5_input/lost_rows.hpp"
#include "io/hdf5_input/value_column.hpp"

namespace eventloom {

/// A dataset as a payload column. Without a stated kind, floating-point numbers of up to 32 bits are f32, others f64;
/// signed integers of up to 32 bits are i32. Integers of 64 bits are u32, or i32 if one of the first rows is negative;
/// reading refuses numbers that do not fit. Numbers with a scale are f64, as are integers if rows may have no value:
/// see ValueColumn::may_lack(). Such a row is NaN, and refused where the kind has no NaN.
class Hdf5PayloadColumn {
 public:
  /// Reads the first rows if they are needed for the kind.
  Hdf5PayloadColumn(ColumnReader column, std::optional<PayloadKind> stated);

  [[nodiscard]] PayloadKind kind() const { return kind_; }
  [[nodiscard]] const ColumnReader& column() const { return values_.column(); }
  /// Number of rows that were never written.
  [[nodiscard]] std::uint64_t unwritten() const { return values_.unwritten(); }

  /// Puts rows [from, from + n) into every `stride`-th of `words`; numbers of two words into pairs. A number that the
  /// kind cannot hold exactly is a bad row, unless the row is lost. Throws UnreadableRows.
  void read(std::uint64_t from, std::size_t n, std::span<std::uint32_t> words, std::size_t stride, LostRows& lost);

 private:
  [[nodiscard]] bool holds_nan() const { return kind_ == PayloadKind::f32 || kind_ == PayloadKind::f64; }
  [[nodiscard]] PayloadKind natural_kind();
  [[nodiscard]] bool put_plain(std::span<std::uint32_t> words, std::size_t stride) const;
  [[nodiscard]] bool put_integers(std::span<std::uint32_t> words, std::size_t stride) const;
  [[nodiscard]] std::optional<std::uint64_t> bits_of(std::size_t i) const;
  [[nodiscard]] std::string defect(std::size_t i) const;

  ValueColumn values_;
  PayloadKind kind_;
};

}  // namespace eventloom
