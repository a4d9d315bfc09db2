#include "io/hdf5_input/row_selection.hpp"

#include <cmath>
#include <utility>

#include "core/runtime/error.hpp"

namespace eventloom {

RowSelection::RowSelection(ColumnReader column, RowTerm term)
    : column_(std::move(column)), scale_(column_), term_(std::move(term)) {
  if (term_.compares_words()) {
    throw UserError("'" + column_.name() + "': where= compares it with the word '" + term_.value() +
                    "', but it holds numbers");
  }
  column_.require_written();
  missing_values_ = MissingValues(column_);
}

void RowSelection::read(std::uint64_t from, std::size_t n, LostRows& rows) {
  missing_.assign(n, false);
  if (column_.is_float()) {
    column_.read(from, n, reals_);
    missing_values_.mark(from, reals_, missing_);
    for (std::size_t i = 0; i < n; ++i) {
      if (std::isnan(reals_[i])) missing_[i] = true;
    }
  } else {
    column_.read(from, n, integers_);
    missing_values_.mark(from, integers_, missing_);
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (missing_[i]) {
      rows.mark(i, column_.name());
    } else if (!holds(i)) {
      rows.leave_out(i);
    }
  }
}

bool RowSelection::holds(std::size_t i) const {
  if (column_.is_float()) return term_.holds(scale_.any() ? scale_.real(reals_[i]) : reals_[i]);
  const auto number = integers_[i];
  const bool is_signed = column_.is_signed();
  if (!scale_.any()) return is_signed ? term_.holds(static_cast<std::int64_t>(number)) : term_.holds(number);
  const auto whole = scale_.whole(number, is_signed);
  return whole ? term_.holds(*whole) : term_.holds(scale_.real(number, is_signed));
}

}  // namespace eventloom
