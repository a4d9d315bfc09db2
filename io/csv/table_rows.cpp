#include "io/csv/table_rows.hpp"

#include <algorithm>
#include <utility>

#include "core/runtime/error.hpp"
#include "formats/units.hpp"
#include "formats/utc_time.hpp"

namespace eventloom {

namespace {

/// Not a row that begins with the word that spreadsheets put in place of a missing number.
bool is_comment(std::string_view line) { return line.starts_with('#') && !line.starts_with("#N/A"); }

constexpr std::size_t kRowsCompared = 10000;

/// Whether the first rows have a number in a column, and none has a word.
bool holds_numbers_alone(const std::string& path, const CsvColumns& columns, std::size_t column) {
  auto all = columns;
  all.where.clear();
  all.overflow.clear();
  all.payload = {column};
  TableRows rows(path, all);
  bool any = false;
  for (std::size_t n = 0; n < kRowsCompared && rows.next_intact() && rows.is_whole(); ++n) {
    const auto text = rows.value(column);
    if (is_missing(text)) continue;
    if (!RowTerm::is_number(text)) return false;
    any = true;
  }
  return any;
}

constexpr const char* kWhich = ": which value is missing, blanks do not show";

}  // namespace

/// Advances to a line that is neither empty nor a comment.
bool TableRows::next_line() {
  awaits_ = false;
  if (std::exchange(is_kept_, false)) return true;
  for (;;) {
    awaits_ = lines_.awaits_line();
    if (awaits_ || !lines_.next(line_)) return false;
    const auto text = without_blanks_around(line_);
    if (lines_.line_number() <= columns_.lines_before || is_comment(text)) continue;
    if (is_row(text)) return true;
    empty_lines_ += is_single_ ? 1 : 0;
  }
}

/// `text`: the line without blanks around it.
bool TableRows::is_row(std::string_view text) const {
  return !text.empty() || (columns_.n_named > 1 && splitter_.by_tabs() && line_.find('\t') != std::string_view::npos);
}

void TableRows::require_no_empty_row() {
  if (empty_lines_ == 0) return;
  --empty_lines_;
  is_kept_ = true;
  throw BadLine(lines_.place() + ": the line before it is empty, where the table has one column: the time is missing");
}

bool TableRows::next() {
  while (next_line()) {
    require_no_empty_row();
    whole_ = splitter_.split_row(lines_, line_, columns_.last());
    left_out_ = marks_turn_ = false;
    is_single_ = fields().size() + splitter_.n_behind() == 1 && columns_.n_named <= 1;
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
  if (!fits_header_) require_no_decimal_commas(n);
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

/// Decimal commas look like separators and move the values behind them. A time or a channel begins no list.
void TableRows::require_no_decimal_commas(std::size_t n) const {
  const auto named = columns_.n_named;
  if (!splitter_.by_commas() || n <= named || n > 2 * named) return;
  const auto& payload = columns_.payload;
  const bool ends_in_number = named == columns_.time || named == columns_.coarse || named == columns_.channel ||
                              std::ranges::find(payload, named) != payload.end();
  if (!ends_in_number) return;
  throw UserError(lines_.place() + ": the line has " + std::to_string(n) + " columns, the header " +
                  std::to_string(named) + ": decimal commas look like commas between columns: write points, " +
                  "or separate the columns by semicolons");
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
  return parse_decimal(text.substr(text.starts_with('-') || text.starts_with('+') ? 1 : 0)) || parse_utc(text);
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

void require_words(const std::string& path, const CsvColumns& columns) {
  for (const auto* conditions : {&columns.where, &columns.overflow}) {
    for (const auto& [column, term] : *conditions) {
      if (!term.compares_words() || term.is_quoted() || !holds_numbers_alone(path, columns, column)) continue;
      throw UserError("'" + path + "': where= compares column '" + term.column() + "' with the word '" + term.value() +
                      "', but its first rows hold numbers alone; if words follow, write " + term.column() + "==\"" +
                      term.value() + "\"");
    }
  }
}

}  // namespace eventloom
