#include "io/csv/csv_columns.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "core/runtime/error.hpp"
#include "formats/units.hpp"
#include "io/csv/csv_fields.hpp"
#include "io/csv/line_reader.hpp"
#include "io/recorded/payload_columns.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kMaxCsvColumn = 10000;
constexpr std::array<std::string_view, 5> kTimeNames = {"time", "t", "timestamp", "timetag", "toa"};
constexpr std::array<std::string_view, 5> kChannelNames = {"channel", "ch", "chan", "detector", "id"};
constexpr std::array<std::string_view, 6> kPayloadNames = {"payload", "energy", "adc", "amplitude", "charge", "tot"};

bool is_column_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

bool is_unit_of_time(std::string_view text) {
  static constexpr std::array<std::string_view, 6> kUnits = {"ps", "ns", "us", "ms", "s", "tick"};
  return std::ranges::find(kUnits, text) != kUnits.end();
}

/// A name and the unit behind it: "time_ns", "time [ns]", "time(ns)".
struct ColumnName {
  explicit ColumnName(std::string_view text) : name(in_lower_case(text)) {
    const auto end = name.find_last_of("_[(");
    if (end == std::string::npos) return;
    auto rest = std::string_view(name).substr(end + 1);
    if (rest.ends_with(']') || rest.ends_with(')')) rest.remove_suffix(1);
    if (rest == "ticks") rest.remove_suffix(1);
    if (!is_unit_of_time(rest)) return;
    unit = rest;
    name = std::string(without_blanks_around(std::string_view(name).substr(0, end)));
  }

  std::string name;
  std::string unit;
};

/// The names of a header.
class TableHeader {
 public:
  explicit TableHeader(std::string_view line) {
    FieldSplitter splitter;
    splitter.split(line, kMaxCsvColumn);
    for (const auto field : splitter.fields()) names_.emplace_back(field);
  }

  [[nodiscard]] std::size_t size() const { return names_.size(); }
  /// The column that is called so; 0 when none is.
  [[nodiscard]] std::size_t column(std::string_view name) const { return number_of(std::ranges::find(names_, name)); }
  /// The first with a usual name.
  [[nodiscard]] std::size_t usual(std::span<const std::string_view> usual_names) const {
    return number_of(std::ranges::find_if(names_, [&](const std::string& name) {
      return std::ranges::find(usual_names, ColumnName(name).name) != usual_names.end();
    }));
  }
  [[nodiscard]] std::vector<std::size_t> all_usual(std::span<const std::string_view> usual_names) const {
    std::vector<std::size_t> columns;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const bool found = std::ranges::find(usual_names, ColumnName(names_[i]).name) != usual_names.end();
      if (found && columns.size() < kMaxPayloadWords) columns.push_back(i + 1);
    }
    return columns;
  }
  [[nodiscard]] std::string unit_of(std::size_t column) const {
    return column != 0 && column <= names_.size() ? ColumnName(names_[column - 1]).unit : "";
  }
  [[nodiscard]] std::string list() const {
    constexpr std::size_t kShownOfHeader = 200;
    std::string text;
    for (const auto& name : names_) text += (text.empty() ? "'" : ", '") + name + "'";
    return text.size() <= kShownOfHeader ? text : text.substr(0, kShownOfHeader) + "...";
  }

 private:
  [[nodiscard]] std::size_t number_of(std::vector<std::string>::const_iterator at) const {
    return at == names_.end() ? 0 : static_cast<std::size_t>(at - names_.begin()) + 1;
  }

  std::vector<std::string> names_;
};

/// What the keys say of the columns.
struct WantedColumns {
  explicit WantedColumns(const SourceUri& uri)
      : time(uri.get("time", "")), channel(uri.get("channel", "")), payload(payload_columns(uri)) {
    for (const char* key : {"time", "channel"}) {
      if (uri.has(key) && uri.get(key, "").empty()) uri.refuse("'" + std::string(key) + "=' is empty");
    }
    for (const auto* text : all()) {
      const bool fits = !is_column_number(*text) || parse_integer(*text, 1, kMaxCsvColumn);
      if (!fits) uri.refuse("column " + *text + " is not a number from 1 to " + std::to_string(kMaxCsvColumn));
    }
  }

  [[nodiscard]] std::vector<const std::string*> all() const {
    std::vector<const std::string*> texts = {&time, &channel};
    for (const auto& text : payload) texts.push_back(&text);
    return texts;
  }
  [[nodiscard]] bool by_number() const {
    return std::ranges::all_of(all(), [](const std::string* text) { return is_column_number(*text); });
  }

  std::string time;
  std::string channel;
  std::vector<std::string> payload;
};

/// The column of a key: by number or name, or one with a usual name when it is empty; 0 when there is none.
std::size_t find_column(const std::string& text, const TableHeader* header, std::span<const std::string_view> usual) {
  if (is_column_number(text)) return static_cast<std::size_t>(*parse_integer(text, 1, kMaxCsvColumn));
  if (header == nullptr) return 0;
  return text.empty() ? header->usual(usual) : header->column(text);
}

CsvColumns columns_in(const WantedColumns& wanted, const TableHeader* header) {
  CsvColumns columns;
  columns.time = find_column(wanted.time, header, kTimeNames);
  columns.channel = find_column(wanted.channel, header, kChannelNames);
  for (const auto& text : wanted.payload) columns.payload.push_back(find_column(text, header, {}));
  if (header == nullptr) return columns;
  if (wanted.time.empty() && wanted.channel.empty() && wanted.payload.empty()) {
    columns.payload = header->all_usual(kPayloadNames);
  }
  columns.unit = header->unit_of(columns.time);
  return columns;
}

bool has_all_columns(const CsvColumns& columns) {
  return columns.time != 0 && columns.channel != 0 && std::ranges::find(columns.payload, 0U) == columns.payload.end();
}

std::string list_of_names(std::span<const std::string_view> names) {
  std::string text;
  for (const auto name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

/// Says which column the header lacks.
[[noreturn]] void refuse_header(const std::string& place, const WantedColumns& wanted, const TableHeader& header) {
  const auto columns = columns_in(wanted, &header);
  const bool time = columns.time == 0;
  auto name = time ? wanted.time : wanted.channel;
  if (!time && columns.channel != 0) {
    name = wanted.payload[static_cast<std::size_t>(std::ranges::find(columns.payload, 0U) - columns.payload.begin())];
  }
  const auto usual = list_of_names(time ? std::span<const std::string_view>(kTimeNames) : kChannelNames);
  const auto missing = name.empty() ? "column is called " + usual + ", and '" + (time ? "time" : "channel") +
                                          "=' is missing: its name or number"
                                    : "column is called '" + name + "'";
  throw UserError(place + ": no " + missing + "; the first line has " + header.list());
}

/// The text of a comment.
std::string_view without_marks(std::string_view comment) {
  while (!comment.empty() && comment.front() == '#') comment.remove_prefix(1);
  return without_blanks_around(comment);
}

/// Reads up to the header.
CsvColumns search_header(const SourceUri& uri, const WantedColumns& wanted, std::uint64_t skip) {
  LineReader lines(uri.path());
  std::string_view line;
  std::string comment;  // the last
  while (lines.next(line)) {
    const auto text = without_blanks_around(line);
    if (lines.line_number() <= skip || text.empty()) continue;
    if (text.front() == '#') {
      comment = without_marks(text);
      continue;
    }
    const TableHeader first(line);
    auto columns = columns_in(wanted, &first);
    columns.lines_before = lines.line_number();
    if (has_all_columns(columns)) return columns;
    const TableHeader above(comment);
    columns = columns_in(wanted, &above);
    columns.lines_before = lines.line_number() - 1;
    if (above.size() == first.size() && has_all_columns(columns)) return columns;
    refuse_header(lines.place(), wanted, first);
  }
  throw UserError("'" + uri.path() + "': no line names its columns; give their numbers: ?time=1&channel=2");
}

}  // namespace

std::size_t CsvColumns::last() const {
  std::size_t column = std::max(time, channel);
  for (const auto word : payload) column = std::max(column, word);
  return column;
}

CsvColumns find_columns(const SourceUri& uri) {
  const auto skip = uri.get_count("skip", 0, 0, std::numeric_limits<std::uint32_t>::max());
  const WantedColumns wanted(uri);
  if (!wanted.by_number()) return search_header(uri, wanted, skip);
  auto columns = columns_in(wanted, nullptr);
  columns.lines_before = skip;
  return columns;
}

}  // namespace eventloom
