#include "io/csv/table_rows.hpp"

namespace eventloom {

bool TableRows::next() {
  while (lines_.next(line_)) {
    const auto text = without_blanks_around(line_);
    if (lines_.line_number() <= columns_.lines_before || text.empty() || text.front() == '#') continue;
    whole_ = splitter_.split_row(lines_, line_, columns_.last());
    return true;
  }
  return false;
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
