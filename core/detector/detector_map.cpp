#include "core/detector/detector_map.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include "core/detector/csv_table.hpp"
#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/setting.hpp"

namespace eventloom {

namespace {

constexpr std::uint32_t kLastChannel = 0xfffffff;

/// A number in decimal or, after "0x", hexadecimal digits.
std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t most) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value > most) return std::nullopt;
  return value;
}

/// Reports a cell: what was expected of it.
[[noreturn]] void expected(const std::string& what, std::string_view text) {
  throw std::invalid_argument("expected " + what + ", not '" + std::string(text) + "'");
}

void set_channels(std::string_view text, ChannelSelection& out) {
  const auto dash = text.find('-');
  const auto low = whole_number(text.substr(0, dash), kLastChannel);
  const auto high = dash == std::string_view::npos ? low : whole_number(text.substr(dash + 1), kLastChannel);
  if (!low || !high || *low > *high) {
    expected("a channel or a range of channels up to 0xfffffff, such as 7 or 0x1200-0x12ff", text);
  }
  out.low = static_cast<std::uint32_t>(*low);
  out.high = static_cast<std::uint32_t>(*high);
}

OffsetText offset_in(std::string_view text, std::uint64_t unit_ps) {
  OffsetText offset;
  offset.unit_ps = unit_ps;
  auto number = text;
  offset.negative = number.starts_with('-');
  if (number.starts_with('-') || number.starts_with('+')) number.remove_prefix(1);
  const auto size = parse_decimal(number);
  if (!size) expected("a decimal number of at most 19 digits", text);
  offset.size = *size;
  return offset;
}

OffsetText dead_time_in(std::string_view text, std::uint64_t unit_ps) {
  auto length = offset_in(text, unit_ps);
  if (length.negative) expected("a length of time of at least 0", text);
  return length;
}

bool mask_in(std::string_view text) {
  if (text != "0" && text != "1") expected("0 or 1", text);
  return text == "1";
}

/// `what`: description of the number, for messages.
double real_in(std::string_view text, const char* what) {
  auto number = text;
  if (number.starts_with('+')) number.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (number.empty() || error != std::errc() || end != number.data() + number.size() || !std::isfinite(value)) {
    expected(what, text);
  }
  return value;
}

double metres_in(std::string_view text) { return real_in(text, "a number of metres"); }

/// A number, or a hexadecimal one after 0x.
double payload_bound_in(std::string_view text) {
  const auto word = whole_number(text, std::numeric_limits<std::uint32_t>::max());
  return word ? static_cast<double>(*word) : real_in(text, "a number");
}

double gain_in(std::string_view text) {
  const double gain = real_in(text, "a number");
  if (gain == 0) expected("a number other than 0", text);
  return gain;
}

/// Names with another meaning in conditions.
constexpr std::array<std::string_view, 13> kTakenNames = {"n_hits", "duration", "systems",  "sources", "channel",
                                                          "source", "trigger",  "prescale", "causal",  "channels",
                                                          "sum",    "max",      "order"};

bool is_identifier(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && !digit(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || digit(c); });
}

std::string group_name_in(std::string_view text) {
  if (!is_identifier(text))
    expected("a group's name of letters, digits and '_' that begins with none of the digits", text);
  if (std::ranges::find(kTakenNames, text) != kTakenNames.end()) {
    throw std::invalid_argument("'" + std::string(text) + "' cannot be the name of a group: conditions use it already");
  }
  return std::string(text);
}

std::string_view without_blanks(std::string_view text) {
  const auto first = std::min(text.find_first_not_of(' '), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::vector<std::string> groups_in(std::string_view text) {
  std::vector<std::string> groups;
  for (;;) {
    const auto end = text.find(';');
    groups.push_back(group_name_in(without_blanks(text.substr(0, end))));
    if (end == std::string_view::npos) return groups;
    text.remove_prefix(end + 1);
  }
}

constexpr std::uint64_t kTicks = 0;

/// The columns that a map may have, and how a cell changes its row.
struct Column {
  std::string_view name;
  void (*take)(std::string_view cell, DetectorRow& row);
};
constexpr std::array kColumns = std::to_array<Column>({
    {"source", [](std::string_view cell, DetectorRow& row) { row.channels.source = cell; }},
    {"channel", [](std::string_view cell, DetectorRow& row) { set_channels(cell, row.channels); }},
    {"offset_ps", [](std::string_view cell, DetectorRow& row) { row.offset = offset_in(cell, 1); }},
    {"offset_ns", [](std::string_view cell, DetectorRow& row) { row.offset = offset_in(cell, 1000); }},
    {"offset_us", [](std::string_view cell, DetectorRow& row) { row.offset = offset_in(cell, 1'000'000); }},
    {"offset_ticks", [](std::string_view cell, DetectorRow& row) { row.offset = offset_in(cell, kTicks); }},
    {"dead_time_ps", [](std::string_view cell, DetectorRow& row) { row.dead_time = dead_time_in(cell, 1); }},
    {"dead_time_ns", [](std::string_view cell, DetectorRow& row) { row.dead_time = dead_time_in(cell, 1000); }},
    {"dead_time_us", [](std::string_view cell, DetectorRow& row) { row.dead_time = dead_time_in(cell, 1'000'000); }},
    {"dead_time_ticks", [](std::string_view cell, DetectorRow& row) { row.dead_time = dead_time_in(cell, kTicks); }},
    {"mask", [](std::string_view cell, DetectorRow& row) { row.mask = mask_in(cell); }},
    {"min_payload", [](std::string_view cell, DetectorRow& row) { row.min_payload = payload_bound_in(cell); }},
    {"max_payload", [](std::string_view cell, DetectorRow& row) { row.max_payload = payload_bound_in(cell); }},
    {"gain", [](std::string_view cell, DetectorRow& row) { row.gain = gain_in(cell); }},
    {"zero", [](std::string_view cell, DetectorRow& row) { row.zero = real_in(cell, "a number"); }},
    {"unit", [](std::string_view cell, DetectorRow& row) { row.unit = cell; }},
    {"group", [](std::string_view cell, DetectorRow& row) { row.groups = groups_in(cell); }},
    {"name", [](std::string_view cell, DetectorRow& row) { row.name = cell; }},
    {"x_m", [](std::string_view cell, DetectorRow& row) { row.x = metres_in(cell); }},
    {"y_m", [](std::string_view cell, DetectorRow& row) { row.y = metres_in(cell); }},
    {"z_m", [](std::string_view cell, DetectorRow& row) { row.z = metres_in(cell); }},
    // Informative only, written by `inspect --detector-map` and `align`.
    {"rate_hz", [](std::string_view, DetectorRow&) {}},
    {"remark", [](std::string_view, DetectorRow&) {}},
    {"offset_error_ps", [](std::string_view, DetectorRow&) {}},
    {"offset_error_ns", [](std::string_view, DetectorRow&) {}},
    {"offset_error_us", [](std::string_view, DetectorRow&) {}},
    {"offset_error_ticks", [](std::string_view, DetectorRow&) {}},
    {"drift_ps_per_s", [](std::string_view, DetectorRow&) {}},
    {"drift_ns_per_s", [](std::string_view, DetectorRow&) {}},
    {"drift_us_per_s", [](std::string_view, DetectorRow&) {}},
    {"drift_ticks_per_s", [](std::string_view, DetectorRow&) {}},
    {"drift_error_ps_per_s", [](std::string_view, DetectorRow&) {}},
    {"drift_error_ns_per_s", [](std::string_view, DetectorRow&) {}},
    {"drift_error_us_per_s", [](std::string_view, DetectorRow&) {}},
    {"drift_error_ticks_per_s", [](std::string_view, DetectorRow&) {}},
});

std::vector<std::string_view> column_names() {
  std::vector<std::string_view> names;
  for (const auto& column : kColumns) names.push_back(column.name);
  return names;
}

std::string listed(const std::vector<std::string_view>& names) {
  std::string all;
  for (const auto name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  return all;
}

const Column& column_of(const std::string& name) {
  const auto* const found = std::ranges::find(kColumns, name, &Column::name);
  if (found != kColumns.end()) return *found;
  const auto names = column_names();
  // Completing the name would choose a unit by chance.
  const bool lacks_unit = name == "offset" || name == "dead_time";
  const auto hint = lacks_unit
                        ? " (did you mean " + name + "_ns, " + name + "_ps, " + name + "_us or " + name + "_ticks?)"
                        : did_you_mean(name, names);
  throw std::invalid_argument("there is no column '" + name + "'" +
                              (hint.empty() ? "; columns are separated by commas: " + listed(names) : hint));
}

using Columns = std::vector<const Column*>;

/// Returns "offset" or "dead_time" for a column that states it in some unit; empty for other columns.
std::string_view stated_length(std::string_view column) {
  for (const std::string_view length : {"offset", "dead_time"}) {
    const bool is_error = column.starts_with("offset_error_");
    if (column.starts_with(length) && column.substr(length.size()).starts_with('_') && !is_error) return length;
  }
  return {};
}

Columns columns_of(const CsvLine& header) {
  Columns columns;
  for (const auto& name : header.fields) {
    const auto& column = column_of(name);
    if (std::ranges::find(columns, &column) != columns.end()) {
      throw std::invalid_argument("there are two columns '" + name + "'");
    }
    const auto length = stated_length(column.name);
    const auto other = std::ranges::find_if(
        columns, [length](const Column* known) { return !length.empty() && stated_length(known->name) == length; });
    if (other != columns.end()) {
      throw std::invalid_argument("there are two columns with " +
                                  std::string(length == "offset" ? "offsets" : "dead times") + ", '" +
                                  std::string((*other)->name) + "' and '" + name + "': use one");
    }
    columns.push_back(&column);
  }
  return columns;
}

DetectorRow row_of(const CsvLine& line, const Columns& columns) {
  if (line.fields.size() != columns.size()) {
    throw std::invalid_argument("it has " + std::to_string(line.fields.size()) + " fields, the header " +
                                std::to_string(columns.size()));
  }
  DetectorRow row;
  row.line = line.number;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (line.fields[i].empty()) continue;
    try {
      columns[i]->take(line.fields[i], row);
    } catch (const std::invalid_argument& e) {
      throw std::invalid_argument("column " + std::string(columns[i]->name) + ": " + e.what());
    }
  }
  if (row.min_payload && row.max_payload && *row.min_payload > *row.max_payload) {
    throw std::invalid_argument("column max_payload: it is below min_payload");
  }
  return row;
}

GroupOption group_option_in(const std::string& text) {
  constexpr std::string_view kSource = "source:";
  constexpr std::string_view kChannel = "channel:";
  const auto equals = text.find('=');
  const auto members = std::string_view(text).substr(equals == std::string::npos ? text.size() : equals + 1);
  const bool by_source = members.starts_with(kSource) && members.size() > kSource.size();
  if (!by_source && !members.starts_with(kChannel)) {
    expected("NAME=source:... or NAME=channel:..., such as A=source:0-3 or A=channel:0x1200-0x12ff", text);
  }
  GroupOption option{text, group_name_in(std::string_view(text).substr(0, equals)), {}};
  if (by_source) {
    option.channels.source = members.substr(kSource.size());
  } else {
    set_channels(members.substr(kChannel.size()), option.channels);
  }
  return option;
}

DeadTimeOption dead_time_option_in(const std::string& text) {
  const auto equals = text.find('=');
  const bool of_group = equals != std::string::npos;
  DeadTimeOption option{text, of_group ? text.substr(0, equals) : "", of_group ? text.substr(equals + 1) : text};
  if (of_group && !is_identifier(option.group)) expected("GROUP=TIME or TIME, such as PMT=5us or 500ns", text);
  return option;
}

std::string place_of(const std::string& file, std::uint64_t row, std::uint64_t line) {
  return file + ": row " + std::to_string(row) + " (line " + std::to_string(line) + ")";
}

/// Runs `work`; adds this place to its errors.
template <class Work>
auto at_place(const std::string& place, Work work) {
  try {
    return work();
  } catch (const std::invalid_argument& e) {
    throw UserError(place + ": " + e.what());
  }
}

}  // namespace

std::string DetectorMap::place(const DetectorRow& row) const { return place_of(file, row.number, row.line); }

DetectorMap parse_detector_map(std::string text, const std::string& file) {
  DetectorMap map{file, std::move(text), {}};
  const auto lines = at_place(file, [&] { return parse_csv(map.text); });
  if (lines.empty()) {
    throw UserError(file + ": it is empty; a detector map has a header with some of the columns " +
                    listed(column_names()));
  }
  const auto columns = at_place(file + ": header (line " + std::to_string(lines.front().number) + ")",
                                [&] { return columns_of(lines.front()); });
  for (const auto& line : std::span(lines).subspan(1)) {
    const std::uint64_t number = map.rows.size() + 1;
    map.rows.push_back(at_place(place_of(file, number, line.number), [&] { return row_of(line, columns); }));
    map.rows.back().number = number;
  }
  return map;
}

DeadTimeOption parse_dead_time_option(const std::string& text) {
  return at_place(name_of(Setting::dead_time) + " " + text, [&] { return dead_time_option_in(text); });
}

GroupOption parse_group_option(const std::string& text) {
  return at_place(name_of(Setting::group) + " " + text, [&] { return group_option_in(text); });
}

}  // namespace eventloom
