#include "io/csv/table_rows.hpp"

#include "core/runtime/error.hpp"
#include "formats/units.hpp"
#include "formats/utc_time.hpp"

namespace eventloom {

namespace {

/// Not a row that begins with the word that spreadsheets put in place of a missing number.
bool is_comment(std::string_view line) { return line.starts_with('#') && !line.starts_with("#N/A"); }

constexpr const char* kWhich = ": which value is missing, blanks do not show";

}  // namespace

bool TableRows::next() {
  while (lines_.next(line_)) {
    const auto text = without_blanks_around(line_);
    if (lines_.line_number() <= columns_.lines_before || text.empty() || is_comment(text)) continue;
    whole_ = splitter_.split_row(lines_, line_, columns_.last());
    left_out_ = marks_turn_ = false;
    if (!whole_) return true;
    require_fit();
    if (splitter_.may_have_commas()) require_one_mark();
    marks_turn_ = !columns_.overflow.empty() && meets(columns_.overflow);
    left_out_ = !marks_turn_ && !columns_.where.empty() && !meets(columns_.where);
    return true;
  }
  return false;
}

/// Rows of a table whose first row exceeds the header may have any length: they end with a list, such as samples.
void TableRows::require_fit() {
  if (fits_header_ == false || (columns_.n_named == 0 && !splitter_.by_blanks())) return;
  const auto n = fields().size() + splitter_.n_behind();
  if (columns_.n_named == 0) return require_all(n);
  const bool fits = n <= columns_.n_named;
  if (!fits_header_) require_no_row_names(n);
  if (!fits_header_) fits_header_ = fits;
  if (!*fits_header_) return;
  if (fits && (n == columns_.n_named || !splitter_.by_blanks())) return;
  throw BadLine(lines_.place() + ": the line has " + std::to_string(n) + " columns, the header " +
                std::to_string(columns_.n_named) + (fits ? kWhich : ""));
}

/// R's write.table puts names before the rows, but none into the header.
void TableRows::require_no_row_names(std::size_t n) const {
  const auto first = fields().front();
  const bool named = line_.starts_with('"') || (splitter_.by_blanks() && (first == "0" || first == "1"));
  if (n != columns_.n_named + 1 || !named) return;
  throw UserError(lines_.place() + ": the row has one column more than the header, as R writes names of rows: write " +
                  "the table with row.names=FALSE, or skip its header and number its columns: ?skip=" +
                  std::to_string(columns_.lines_before) + "&time=2&channel=3");
}

/// Only used columns count: a list in another one, such as 3,5, is no number.
void TableRows::require_one_mark() {
  const auto require = [&](std::size_t column) {
    const auto text = column == 0 ? std::string_view() : value(column);
    const auto point = text.find('.');
    if (point == std::string_view::npos || text.find_first_not_of("+-0123456789.eE") != std::string_view::npos) return;
    const char mark = splitter_.had_comma(column) ? ',' : '.';
    if (decimal_mark_ == '\0') decimal_mark_ = mark;
    if (mark == decimal_mark_) return;
    std::string number(text);
    number[point] = mark;
    throw BadLine(lines_.place() + ": '" + number + "' in column " + std::to_string(column) + " has a decimal " +
                  (mark == ',' ? "comma, other numbers have points" : "point, other numbers have commas") +
                  ", or one of them separates thousands: write all numbers alike");
  };
  for (const auto column : {columns_.time, columns_.coarse, columns_.channel}) require(column);
  for (const auto column : columns_.payload) require(column);
}

bool TableRows::has_time() const {
  const auto text = value(columns_.time);
  return parse_decimal(text.substr(text.starts_with('-') ? 1 : 0)) || parse_utc(text);
}

/// Rows without a header have as many fields as the first, or any number if one has more.
void TableRows::require_all(std::size_t n) {
  if (!fits_header_ && !has_time()) return;
  if (!fits_header_) n_first_ = n;
  fits_header_ = n <= n_first_;
  if (n >= n_first_) return;
  throw BadLine(lines_.place() + ": the line has " + std::to_string(n) + " columns, the first row " +
                std::to_string(n_first_) + kWhich);
}

bool TableRows::meets(const std::vector<CsvCondition>& conditions) const {
  for (const auto& [column, term] : conditions) {
    const auto text = value(column);
    const auto holds = is_missing(text) ? std::nullopt : term.holds(text);
    if (!holds) {
      throw BadLine(lines_.place() + ": '" + std::string(text) + "' in column " + std::to_string(column) +
                    " cannot be compared with the " + term.value() + " of where= or overflow=");
    }
    if (!*holds) return false;
  }
  return true;
}

bool TableRows::next_intact() {
  for (;;) {
    try {
      while (next()) {
        if (!left_out_ && !marks_turn_) return true;
      }
      return false;
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
