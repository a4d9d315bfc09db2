#include "io/hdf5_input/row_selection.hpp"

#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

std::variant<ValueColumn, ColumnReader> values_in(ColumnReader column) {
  if (!column.holds_texts()) return ValueColumn(std::move(column), ValueColumn::Takes::all_but_nan);
  column.require_written();
  return column;
}

/// Replaces the name of an enumeration by its number.
RowTerm comparable(const ColumnReader& column, RowTerm term) {
  if (column.holds_texts()) return term;
  if (const auto number = column.number_of_name(term.value())) return term.with_number(*number);
  if (!term.compares_words())
    return column.is_float() ? term.of_digits(column.digits(), "'" + column.name() + "': where=") : term;
  const auto names = joined(column.names(), ", ");
  throw UserError("'" + column.name() + "': where= compares it with the word '" + term.value() + "', but it holds " +
                  (names.empty() ? "numbers" : "an enumeration of " + names));
}

}  // namespace

RowSelection::RowSelection(ColumnReader column, RowTerm term)
    : column_(values_in(std::move(column))), term_(comparable(this->column(), std::move(term))) {}

const ColumnReader& RowSelection::column() const {
  const auto* const texts = std::get_if<ColumnReader>(&column_);
  return texts != nullptr ? *texts : std::get<ValueColumn>(column_).column();
}

void RowSelection::read(std::uint64_t from, std::size_t n, LostRows& rows) {
  if (auto* const texts = std::get_if<ColumnReader>(&column_)) return read_texts(*texts, from, n, rows);
  auto& values = std::get<ValueColumn>(column_);
  values.read(from, n);
  values.mark(rows);
  for (std::size_t i = 0; i < n; ++i) {
    if (rows[i]) continue;
    const auto whole = values.whole(i);
    if (!(whole ? term_.holds(*whole) : term_.holds(values.real(i)))) rows.leave_out(i);
  }
}

void RowSelection::read_texts(ColumnReader& column, std::uint64_t from, std::size_t n, LostRows& rows) {
  column.read(from, n, texts_);
  for (std::size_t i = 0; i < n; ++i) {
    const auto holds = term_.holds(texts_[i]);
    if (texts_[i].empty()) {
      rows.mark(i, column.name());
    } else if (!holds) {
      rows.mark_bad(i, fmt::format("'{}' row {}: '{}' is no number, with which where= compares it", column.name(),
                                   from + i, texts_[i]));
    } else if (!*holds) {
      rows.leave_out(i);
    }
  }
}

}  // namespace eventloom
