#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/recorded/precision.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// A comparison of a column with a value, such as type==0. Whole numbers are compared exactly, others as numbers of the
/// column's precision: 0.3 is the number that a column of f32 holds for it. NaN and missing values must not be passed:
/// a row with one is damaged, not left out. A value in quotes is a word, even if it is a number.
class RowTerm {
 public:
  __extension__ using Whole = __int128;
  enum class Comparison : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

  /// `value`: a number, or a word, as it is if it is `quoted`, which is only equal or not. std::nullopt when it is
  /// neither.
  static std::optional<RowTerm> of(std::string column, Comparison comparison, std::string value, bool quoted);

  /// Whether a field holds a number, or a truth value, which is one.
  static bool is_number(std::string_view text) { return !std::holds_alternative<std::monostate>(number_in(text)); }

  /// Name, or number from 1, of the column; of binary records, the field.
  [[nodiscard]] const std::string& column() const { return column_; }
  /// The text, without quotes.
  [[nodiscard]] const std::string& value() const { return value_; }
  [[nodiscard]] bool compares_words() const { return std::holds_alternative<std::monostate>(number_); }
  /// Whether the value has quotes.
  [[nodiscard]] bool is_quoted() const { return quoted_; }

  /// The same comparison with a number in place of a word.
  [[nodiscard]] RowTerm with_number(Whole number) const;
  /// The same comparison with numbers of `digits` significant binary digits, to which the value is rounded. Throws
  /// UserError, which begins with `where`, if numbers are to be equal to a whole number that none of them is.
  [[nodiscard]] RowTerm of_digits(unsigned digits, const std::string& where) const;

  [[nodiscard]] bool holds(Whole number) const;
  [[nodiscard]] bool holds(std::uint64_t number) const { return holds(Whole{number}); }
  [[nodiscard]] bool holds(std::int64_t number) const { return holds(Whole{number}); }
  /// `number` may be more precise than the column, such as the product of its number and a factor.
  [[nodiscard]] bool holds(double number) const;
  /// std::nullopt when the field must be a number and is not.
  [[nodiscard]] std::optional<bool> holds(std::string_view field) const;

 private:
  using Number = std::variant<std::monostate, Whole, double>;

  RowTerm(std::string column, Comparison comparison, std::string value, bool quoted, Number number)
      : column_(std::move(column)),
        comparison_(comparison),
        value_(std::move(value)),
        quoted_(quoted),
        number_(number) {}
  static Number number_in(std::string_view text);
  template <class T>
  [[nodiscard]] bool compare(const T& left, const T& right) const;

  std::string column_;
  Comparison comparison_;
  std::string value_;
  bool quoted_;
  Number number_;                    ///< monostate: a word
  unsigned digits_ = kDoubleDigits;  ///< binary digits of the numbers in the column
};

/// The terms of the key `where`, COLUMN==VALUE with == != < <= > or >=, joined by &&; empty without the key. Rows for
/// which one does not hold make no hits: the user wants that, so they are counted as `cut`, and are not losses. Throws
/// UserError when the key is invalid.
std::vector<RowTerm> row_condition(const SourceUri& uri);

/// Likewise the key `overflow`: rows for which all terms hold make no hits, but mark turns of the counter of the times.
/// A column alone must not be 0.
std::vector<RowTerm> turn_condition(const SourceUri& uri);

}  // namespace eventloom
