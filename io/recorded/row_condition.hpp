#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// A comparison of a column with a value, such as type==0. Whole numbers are compared exactly, others as doubles. NaN
/// and missing values must not be passed: a row with one is damaged, not left out.
class RowTerm {
 public:
  enum class Comparison : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

  /// `value`: a number, or a word, which is only equal or not. std::nullopt when it is neither.
  static std::optional<RowTerm> of(std::string column, Comparison comparison, std::string value);

  /// Name, or number from 1, of the column; of binary records, the field.
  [[nodiscard]] const std::string& column() const { return column_; }
  [[nodiscard]] const std::string& value() const { return value_; }
  [[nodiscard]] bool compares_words() const { return std::holds_alternative<std::monostate>(number_); }

  [[nodiscard]] bool holds(std::uint64_t number) const { return holds(Whole{number}); }
  [[nodiscard]] bool holds(std::int64_t number) const { return holds(Whole{number}); }
  [[nodiscard]] bool holds(double number) const;
  /// std::nullopt when the field must be a number and is not.
  [[nodiscard]] std::optional<bool> holds(std::string_view field) const;

 private:
  __extension__ using Whole = __int128;
  using Number = std::variant<std::monostate, Whole, double>;

  RowTerm(std::string column, Comparison comparison, std::string value, Number number)
      : column_(std::move(column)), comparison_(comparison), value_(std::move(value)), number_(number) {}
  static Number number_in(std::string_view text);
  template <class T>
  [[nodiscard]] bool compare(const T& left, const T& right) const;
  [[nodiscard]] bool holds(Whole number) const;

  std::string column_;
  Comparison comparison_;
  std::string value_;  ///< the text of the URI
  Number number_;      ///< monostate: a word
};

/// The terms of the key `where`, COLUMN==VALUE with == != < <= > or >=, joined by &&; empty without the key. Rows for
/// which one does not hold make no hits: the user wants that, so they are counted as `cut`, and are not losses. Throws
/// UserError when the key is invalid.
std::vector<RowTerm> row_condition(const SourceUri& uri);

/// Likewise the key `overflow`: rows for which all terms hold make no hits, but mark turns of the counter of the times.
/// A column alone must not be 0.
std::vector<RowTerm> turn_condition(const SourceUri& uri);

}  // namespace eventloom
