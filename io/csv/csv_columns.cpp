#include "io/csv/csv_columns.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/error.hpp"
#include "io/csv/table_header.hpp"
#include "io/csv/table_rows.hpp"
#include "io/files/line_reader.hpp"
#include "io/files/table_fields.hpp"
#include "io/recorded/clock_unit.hpp"
#include "io/recorded/column_name.hpp"
#include "io/recorded/fixed_channel.hpp"
#include "io/recorded/time_pair.hpp"

namespace eventloom {

namespace {

constexpr std::array<std::string_view, 5> kTimeNames = {"time", "t", "timestamp", "timetag", "toa"};
constexpr std::array<std::string_view, 5> kChannelNames = {"channel", "ch", "chan", "detector", "id"};
constexpr std::array<std::string_view, 6> kPayloadNames = {"payload", "energy", "adc", "amplitude", "charge", "tot"};

bool is_column_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// The columns as the keys specify them.
struct WantedColumns {
  explicit WantedColumns(const SourceUri& uri)
      : time(time_column(uri)),
        coarse(coarse_column(uri)),
        channel(uri.get("channel", "")),
        fixed_channel(eventloom::fixed_channel(uri)),
        payload(payload_keys(uri)),
        overflow(turn_condition(uri)),
        where(row_condition(uri)),
        usual_payload(!uri.has("time") && !uri.has("channel") && !uri.has("payload")) {
    for (const char* key : {"time", "channel"}) {
      if (uri.has(key) && uri.get(key, "").empty()) uri.refuse("'" + std::string(key) + "=' is empty");
    }
    for (const auto* text : all()) {
      const bool fits = !is_column_number(*text) || parse_integer(*text, 1, kMaxCsvColumn);
      if (!fits) uri.refuse("column " + *text + " is not a number from 1 to " + std::to_string(kMaxCsvColumn));
    }
  }

  [[nodiscard]] std::vector<const std::string*> all() const {
    std::vector<const std::string*> texts = {&time};
    if (!fixed_channel) texts.push_back(&channel);
    if (!coarse.empty()) texts.push_back(&coarse);
    for (const auto& key : payload) texts.push_back(&key.name);
    for (const auto& term : overflow) texts.push_back(&term.column());
    for (const auto& term : where) texts.push_back(&term.column());
    return texts;
  }
  [[nodiscard]] bool by_number() const {
    return std::ranges::all_of(all(), [](const std::string* text) { return is_column_number(*text); });
  }

  std::string time;
  std::string coarse;  ///< empty: none
  std::string channel;
  std::optional<std::uint32_t> fixed_channel;
  std::vector<PayloadKey> payload;
  std::vector<RowTerm> overflow;
  std::vector<RowTerm> where;
  bool usual_payload;  ///< use all columns with usual payload names
};

/// The column of a key: by number or name, or, if `text` is empty, with a usual name; 0 if none.
std::size_t find_column(const std::string& text, const TableHeader* header, std::span<const std::string_view> usual) {
  if (is_column_number(text)) return static_cast<std::size_t>(*parse_integer(text, 1, kMaxCsvColumn));
  if (header == nullptr) return 0;
  const auto found = text.empty() ? header->usual(usual) : header->called(text);
  return found.empty() ? 0 : found.front();
}

CsvColumns columns_in(const WantedColumns& wanted, const TableHeader* header) {
  CsvColumns columns;
  columns.time = find_column(wanted.time, header, kTimeNames);
  if (!wanted.coarse.empty()) columns.coarse = find_column(wanted.coarse, header, {});
  columns.fixed_channel = wanted.fixed_channel;
  if (!wanted.fixed_channel) columns.channel = find_column(wanted.channel, header, kChannelNames);
  for (const auto& key : wanted.payload) columns.payload.push_back(find_column(key.name, header, {}));
  for (const auto& term : wanted.overflow) columns.overflow.push_back({find_column(term.column(), header, {}), term});
  for (const auto& term : wanted.where) columns.where.push_back({find_column(term.column(), header, {}), term});
  columns.payload_keys = wanted.payload;
  if (header == nullptr) return columns;
  if (wanted.usual_payload) {
    columns.payload = header->all_usual(kPayloadNames);
    columns.payload.resize(std::min<std::size_t>(columns.payload.size(), kMaxPayloadWords));
    columns.payload_keys.resize(columns.payload.size());
  }
  for (std::size_t i = 0; i < columns.payload.size(); ++i) {
    const auto column = columns.payload[i];
    if (column != 0 && column <= header->size()) columns.payload_keys[i].name = header->names()[column - 1];
  }
  columns.unit = header->unit_of(columns.time);
  return columns;
}

bool has_channels(const CsvColumns& columns) { return columns.channel != 0 || columns.fixed_channel; }

/// The first term whose column has not been found; null if there is none.
const RowTerm* missing_condition(const CsvColumns& columns) {
  for (const auto* conditions : {&columns.overflow, &columns.where}) {
    const auto missing = std::ranges::find(*conditions, 0U, &CsvCondition::column);
    if (missing != conditions->end()) return &missing->term;
  }
  return nullptr;
}

bool has_all_columns(const WantedColumns& wanted, const CsvColumns& columns) {
  return columns.time != 0 && (columns.coarse != 0 || wanted.coarse.empty()) && has_channels(columns) &&
         std::ranges::find(columns.payload, 0U) == columns.payload.end() && missing_condition(columns) == nullptr;
}

std::string list_of_names(std::span<const std::string_view> names) {
  std::string text;
  for (const auto name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

/// Refuses a key that several columns match.
void require_one(const LineReader& lines, const std::string& key, const std::string& text, const TableHeader& header,
                 const std::vector<std::size_t>& columns) {
  if (columns.size() < 2) return;
  const auto choice = [&](std::size_t column) {
    const auto& name = header.names()[column - 1];
    const bool by_name = header.called(name).size() == 1 && !is_column_number(name) && text.empty();
    return key + "=" + (by_name ? name : std::to_string(column));
  };
  throw UserError(lines.place() + ": columns " + std::to_string(columns[0]) + " and " + std::to_string(columns[1]) +
                  (text.empty() ? " could both be the " + key : " are both called '" + text + "'") + "; say which: " +
                  choice(columns[0]) + " or " + choice(columns[1]) + "; the header has " + header.list());
}

void require_clear(const LineReader& lines, const WantedColumns& wanted, const TableHeader& header) {
  const auto named = [&](const std::string& key, const std::string& text) {
    if (!is_column_number(text)) require_one(lines, key, text, header, header.called(text));
  };
  if (wanted.time.empty()) require_one(lines, "time", "", header, header.all_usual(kTimeNames));
  if (wanted.channel.empty() && !wanted.fixed_channel)
    require_one(lines, "channel", "", header, header.usual(kChannelNames));
  if (!wanted.time.empty()) named("time", wanted.time);
  if (!wanted.channel.empty()) named("channel", wanted.channel);
  if (!wanted.coarse.empty()) named("coarse", wanted.coarse);
  for (const auto& key : wanted.payload) named("payload", key.name);
  for (const auto& term : wanted.overflow) named("overflow", term.column());
  for (const auto& term : wanted.where) named("where", term.column());
}

/// A hint at a name in the header that was probably meant as one of the usual names.
std::string probably_meant(const TableHeader& header, std::span<const std::string_view> usual) {
  for (const auto& given : header.names()) {
    const auto name = ColumnName(given).name;
    if (std::ranges::find(kPayloadNames, name) != kPayloadNames.end()) continue;
    const auto hint = did_you_mean(name, usual);
    if (!hint.empty()) return "; '" + given + "'" + hint;
  }
  return {};
}

constexpr const char* kNoChannels = ", or for a table without channels fixed-channel=N";

/// Throws UserError that names the column that the header lacks.
[[noreturn]] void refuse_header(const std::string& place, const WantedColumns& wanted, const TableHeader& header) {
  const auto columns = columns_in(wanted, &header);
  const bool time = columns.time == 0;
  auto name = time ? wanted.time : wanted.channel;
  if (!time && columns.coarse == 0 && !wanted.coarse.empty()) {
    name = wanted.coarse;
  } else if (!time && has_channels(columns)) {
    const auto payload = static_cast<std::size_t>(std::ranges::find(columns.payload, 0U) - columns.payload.begin());
    name = payload < columns.payload.size() ? wanted.payload[payload].name : missing_condition(columns)->column();
  }
  const auto usual = time ? std::span<const std::string_view>(kTimeNames) : kChannelNames;
  const std::vector<std::string_view> own(header.names().begin(), header.names().end());
  const auto missing = name.empty() ? "column is called " + list_of_names(usual) + ", and '" +
                                          (time ? "time" : "channel") + "=' is missing: its name or number" +
                                          (time ? "" : kNoChannels) + probably_meant(header, usual)
                                    : "column is called '" + name + "'" + did_you_mean(name, own);
  throw UserError(place + ": no " + missing + "; the first line has " + header.list());
}

std::string_view without_marks(std::string_view comment) {
  while (!comment.empty() && comment.front() == '#') comment.remove_prefix(1);
  return without_blanks_around(comment);
}

/// Splits a line that may be a header; std::nullopt if it is not one, as quotes in a comment need not match.
std::optional<TableHeader> header_in(const LineReader& lines, std::string_view comment) {
  try {
    return TableHeader(lines, comment);
  } catch (const BadLine&) {
    return std::nullopt;
  }
}

bool uses(const CsvColumns& columns, std::size_t column) {
  return column == columns.time || column == columns.coarse || column == columns.channel ||
         std::ranges::find(columns.payload, column) != columns.payload.end() ||
         std::ranges::find(columns.overflow, column, &CsvCondition::column) != columns.overflow.end() ||
         std::ranges::find(columns.where, column, &CsvCondition::column) != columns.where.end();
}

/// `header`: the names, or, if `names` is false, the fields of a row.
std::vector<std::string> unread_of(const CsvColumns& columns, const TableHeader& header, bool names) {
  std::vector<std::string> unread;
  for (std::size_t column = 1; column <= header.size(); ++column) {
    const auto& name = header.names()[column - 1];
    if (!uses(columns, column)) unread.push_back(names && !name.empty() ? name : std::to_string(column));
  }
  return unread;
}

/// std::nullopt when the line lacks any of the columns.
std::optional<CsvColumns> columns_if_header(const LineReader& lines, const WantedColumns& wanted,
                                            const TableHeader& header) {
  auto columns = columns_in(wanted, &header);
  if (!has_all_columns(wanted, columns)) return std::nullopt;
  require_clear(lines, wanted, header);
  columns.unread = unread_of(columns, header, true);
  columns.n_named = header.size();
  return columns;
}

/// Excel's first line, which names the separator: sep=;
bool is_separator_line(std::string_view text) {
  return text.starts_with("sep=") && text.size() <= std::string_view("sep=;").size();
}

/// Reads up to the header and finds the columns in it.
CsvColumns search_header(const SourceUri& uri, const WantedColumns& wanted, std::uint64_t skip) {
  LineReader lines(uri.path());
  std::string_view line;
  std::string comment;  // the last one so far
  while (lines.next(line)) {
    const auto text = without_blanks_around(line);
    if (lines.line_number() <= skip || text.empty() || is_separator_line(text)) continue;
    if (text.find('\r') != std::string_view::npos)
      throw UserError(lines.place() +
                      " holds a carriage return: end lines with line feeds (tr '\\r' '\\n' < OLD > NEW)");
    if (text.front() == '#') {
      comment = without_marks(text);
      continue;
    }
    const TableHeader first(lines, line);
    if (auto columns = columns_if_header(lines, wanted, first)) {
      columns->lines_before = lines.line_number();
      return *columns;
    }
    const auto above = header_in(lines, comment);
    auto columns = above && above->size() == first.size() ? columns_if_header(lines, wanted, *above) : std::nullopt;
    if (!columns) refuse_header(lines.place(), wanted, first);
    columns->lines_before = lines.line_number() - 1;
    return *columns;
  }
  if (!lines.failure().empty()) throw UserError("cannot read '" + uri.path() + "': " + lines.failure());
  throw UserError("'" + uri.path() + "': no line names its columns; give their numbers: ?time=1&channel=2");
}

/// The unused columns, by number, from the first row: a table whose columns are given by number needs no header.
std::vector<std::string> unread_in_rows(const SourceUri& uri, const CsvColumns& columns) {
  TableRows rows(uri.path(), columns);
  if (!rows.next_intact()) return {};
  const auto row = header_in(rows.lines(), rows.line());
  return row ? unread_of(columns, *row, false) : std::vector<std::string>();
}

}  // namespace

CsvColumns find_columns(const SourceUri& uri) {
  const auto skip = uri.get_count("skip", 0, 0, std::numeric_limits<std::uint32_t>::max());
  const WantedColumns wanted(uri);
  if (!wanted.by_number()) return search_header(uri, wanted, skip);
  auto columns = columns_in(wanted, nullptr);
  columns.lines_before = skip;
  columns.unread = unread_in_rows(uri, columns);
  return columns;
}

}  // namespace eventloom
