#include "app/observe/alarm_condition.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr std::string_view kOperators = "<>=!";
/// Ranks report once a second. With a shorter limit, every run would appear stalled from time to time.
constexpr double kShortestStall_s = 2;

[[noreturn]] void refuse_condition(const std::string& text, const std::string& why) {
  throw UserError("--alarm '" + text + "': " + why);
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string without_blanks(const std::string& text) {
  std::string kept;
  std::ranges::copy_if(text, std::back_inserter(kept), [](char c) { return !is_blank(c); });
  return kept;
}

/// The parts of a condition.
struct Words {
  std::string_view name;
  std::string_view source;
  bool names_source = false;
  std::string_view comparison;
  std::string_view limit;
};

Words words_in(const std::string& condition, const std::string& text) {
  const std::string_view all = condition;
  const auto begin = all.find_first_of(kOperators);
  const auto end = all.find_first_not_of(kOperators, begin);
  if (begin == 0 || begin == std::string_view::npos || end == std::string_view::npos) {
    refuse_condition(text, "must be NAME[:SOURCE] OP NUMBER[UNIT], such as 'lost>0', 'stalled>5s' or 'rate:3<100'");
  }
  const auto subject = all.substr(0, begin);
  const auto colon = subject.find(':');
  Words words{
      subject.substr(0, colon), {}, colon != std::string_view::npos, all.substr(begin, end - begin), all.substr(end)};
  if (words.names_source) words.source = subject.substr(colon + 1);
  return words;
}

using Compare = bool (*)(double, double);

Compare comparison_by(std::string_view word, const std::string& text) {
  constexpr std::array kAll = {
      std::pair<std::string_view, Compare>{"<", [](double a, double b) { return a < b; }},
      std::pair<std::string_view, Compare>{"<=", [](double a, double b) { return a <= b; }},
      std::pair<std::string_view, Compare>{">", [](double a, double b) { return a > b; }},
      std::pair<std::string_view, Compare>{">=", [](double a, double b) { return a >= b; }},
      std::pair<std::string_view, Compare>{"==", [](double a, double b) { return a == b; }},
      std::pair<std::string_view, Compare>{"!=", [](double a, double b) { return a != b; }},
  };
  const auto found = std::ranges::find(kAll, word, &std::pair<std::string_view, Compare>::first);
  if (found == kAll.end()) refuse_condition(text, "the operator must be <, <=, >, >=, == or !=");
  return found->second;
}

/// Conversion factor from a unit after the number to the unit of the quantity.
struct Unit {
  std::string_view quantity;
  std::string_view word;
  double factor;
};
constexpr std::array kUnits = std::to_array<Unit>({
    {"s", "s", 1},
    {"s", "ms", 1e-3},
    {"s", "min", 60},
    {"s", "h", 3600},
    {"ns", "ns", 1},
    {"ns", "us", 1e3},
    {"ns", "ms", 1e6},
    {"ns", "s", 1e9},
    {"bytes", "B", 1},
    {"bytes", "kB", 1e3},
    {"bytes", "MB", 1e6},
    {"bytes", "GB", 1e9},
    {"bytes", "KiB", 1024},
    {"bytes", "MiB", 1024.0 * 1024},
    {"bytes", "GiB", 1024.0 * 1024 * 1024},
    {"1", "%", 0.01},
});

std::string units_of(std::string_view quantity) {
  std::string words;
  for (const auto& unit : kUnits) {
    if (unit.quantity == quantity) words += (words.empty() ? "" : ", ") + std::string(unit.word);
  }
  return words;
}

double factor_of(std::string_view word, std::string_view quantity, const std::string& text) {
  if (word.empty()) return 1;
  const auto found =
      std::ranges::find_if(kUnits, [&](const Unit& u) { return u.quantity == quantity && u.word == word; });
  if (found != kUnits.end()) return found->factor;
  const auto known = units_of(quantity);
  refuse_condition(
      text, "'" + std::string(word) + "' is no unit here: " + (known.empty() ? "give a plain number" : "use " + known));
}

double limit_in(std::string_view word, std::string_view quantity, const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool begins = (word.front() >= '0' && word.front() <= '9') || word.front() == '.';
  if (!begins || error != std::errc{} || !std::isfinite(number)) {
    refuse_condition(text, "'" + std::string(word) + "' is not a number from 0 on with an optional unit");
  }
  const double limit = number * factor_of(word.substr(static_cast<std::size_t>(end - word.data())), quantity, text);
  if (quantity == "1" && limit > 1) refuse_condition(text, "it is at most 1; write 90% or 0.9");
  return limit;
}

std::uint32_t source_number(std::string_view word, const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || error != std::errc{} || end != word.data() + word.size()) {
    refuse_condition(text, "after the colon comes the number of a source, such as rate:3");
  }
  return number;
}

AlarmQuantity quantity_named(std::string_view name, const std::string& text) {
  auto found = find_alarm_quantity(name);
  if (found) return *std::move(found);
  refuse_condition(text, "'" + std::string(name) + "' is none of " + kAlarmQuantities +
                             ", nor a counter such as incomplete_slices" + did_you_mean(name, alarm_quantity_names()) +
                             "; /status lists the counters");
}

}  // namespace

AlarmCondition parse_alarm_condition(const std::string& text) {
  AlarmCondition condition;
  condition.text = without_blanks(text);
  const auto words = words_in(condition.text, text);
  const auto about = quantity_named(words.name, text);
  condition.quantity = condition.text.substr(0, condition.text.find_first_of(kOperators));
  condition.unit = about.unit == "1" ? "" : about.unit;
  condition.compare = comparison_by(words.comparison, text);
  condition.limit = limit_in(words.limit, about.unit, text);
  condition.value = about.of_run;
  if (words.name == "stalled" && condition.limit < kShortestStall_s) {
    refuse_condition(text, "ranks report once a second; give 2s or more");
  }
  if (!words.names_source) return condition;
  if (!about.of_source)
    refuse_condition(text, "'" + std::string(words.name) + "' is of the whole run; omit the source");
  condition.source = source_number(words.source, text);
  condition.value = about.of_source(*condition.source);
  return condition;
}

std::vector<AlarmCondition> parse_alarm_conditions(const std::vector<std::string>& texts) {
  std::vector<AlarmCondition> conditions;
  for (const auto& text : texts) {
    auto condition = parse_alarm_condition(text);
    if (std::ranges::find(conditions, condition.text, &AlarmCondition::text) != conditions.end()) {
      refuse_condition(text, "is given twice");
    }
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

void require_alarm_sources(const std::vector<AlarmCondition>& conditions, std::size_t n_sources) {
  for (const auto& condition : conditions) {
    if (!condition.source || *condition.source < n_sources) continue;
    refuse_condition(condition.text, fmt::format("there is no source {}; the sources of this run are 0 to {}",
                                                 *condition.source, n_sources - 1));
  }
}

std::string alarm_value_text(double value, const std::string& unit) {
  auto text = value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
  return unit.empty() ? text : text + " " + unit;
}

}  // namespace eventloom
