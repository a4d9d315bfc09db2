#include "io/csv/table_rows.hpp"

namespace eventloom {

bool TableRows::next() {
  while (lines_.next(line_)) {
    const auto text = without_blanks_around(line_);
    if (lines_.line_number() <= columns_.lines_before || text.empty() || text.front() == '#') continue;
    whole_ = splitter_.split_row(lines_, line_, columns_.last());
    if (whole_ && columns_.n_named != 0) require_fit();
    return true;
  }
  return false;
}

/// Rows of a table whose first row exceeds the header may have any length: they end with a list, such as samples.
void TableRows::require_fit() {
  if (fits_header_ == false) return;
  const auto n = fields().size() + splitter_.n_behind();
  const bool fits = n <= columns_.n_named;
  if (!fits_header_) fits_header_ = fits;
  if (fits || !*fits_header_) return;
  throw BadLine(lines_.place() + ": the line has " + std::to_string(n) + " columns, the header " +
                std::to_string(columns_.n_named));
}

bool TableRows::next_intact() {
  for (;;) {
    try {
      return next();
    } catch (const BadLine&) {
      continue;
    }
  }
}

std::string_view TableRows::field(std::size_t column) const {
  const auto& all = fields();
  if (column <= all.size()) return all[column - 1];
  throw BadLine(lines_.place() + ": the line has no column " + std::to_string(column) + ", only " +
                std::to_string(all.size()));
}

}  // namespace eventloom
