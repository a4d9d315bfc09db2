#include "io/hdf5_input/time_unit.hpp"

#include <optional>
#include <string_view>

#include "core/runtime/error.hpp"
#include "formats/units.hpp"
#include "io/recorded/column_name.hpp"

namespace eventloom {

namespace {

constexpr const char* kContradicts = " contradicts its attribute ";
constexpr const char* kAdd =
    "add unit=ps, ns, us, ms, s or tick, or the length of a clock's tick such as 12.5ns, to the source";

[[noreturn]] void refuse(const ColumnReader& column, const std::string& reason) {
  throw UserError("'" + column.name() + "': " + reason);
}

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::uint64_t unit_ps(std::string_view unit, std::uint64_t tick_ps) {
  return unit == "tick" ? tick_ps : picoseconds_of(unit).value_or(0);
}

bool is_same(const TimeUnit& unit, std::uint64_t ps) {
  return to_ticks({1, 0}, unit.ps, unit.divisor, Rounding::none) == std::optional(Tick(ps));
}

/// The unit that an attribute states.
struct StatedUnit {
  std::string attribute;  ///< attribute and text, for messages; empty without an attribute
  std::string_view unit;  ///< empty when unknown
};

StatedUnit stated_unit(const ColumnReader& column) {
  for (const std::string name : {"units", "unit"}) {
    const auto text = column.text_of(name.c_str());
    if (!text || without_blanks(*text).empty()) continue;
    return {name + "='" + *text + "'", unit_of_time(without_blanks(*text))};
  }
  return {};
}

/// Returns the stated unit; refuses a text that is not a known unit unless the key states one.
StatedUnit understood_unit(const SourceUri& uri, const ColumnReader& column) {
  auto stated = stated_unit(column);
  if (stated.attribute.empty() || !stated.unit.empty() || uri.has("unit")) return stated;
  refuse(column, "its attribute " + stated.attribute + " is not a unit of time that is known: " + kAdd);
}

}  // namespace

TickScale time_scale_of(const SourceUri& uri, const ColumnReader& column, std::uint64_t tick_ps) {
  const bool has_key = uri.has("unit");
  const auto key = uri.get("unit", "");
  if (const auto own_tick_ps = column.number_of("tick_ps"); own_tick_ps && *own_tick_ps != 0) {
    if (has_key && !is_same(uri.get_unit("unit", tick_ps), *own_tick_ps)) {
      refuse(column, "unit=" + key + kContradicts + "tick_ps=" + std::to_string(*own_tick_ps));
    }
    return TickScale(uri.with("unit", "ps"), tick_ps, {*own_tick_ps, 0});
  }
  const auto [attribute, unit] = understood_unit(uri, column);
  if (has_key) {
    const auto given = uri.get_unit("unit", tick_ps);
    // A length may be that of the ticks of the clock that wrote the file.
    const bool explains = unit == "tick" && key.find_first_of("0123456789") == 0;
    if (!unit.empty() && !explains && !is_same(given, unit_ps(unit, tick_ps)))
      refuse(column, "unit=" + key + kContradicts + attribute);
    return TickScale(uri, tick_ps);
  }
  const auto name = ColumnName(column.name().substr(column.name().find_last_of('/') + 1)).unit;
  if (!unit.empty()) {
    if (!name.empty() && name != unit) refuse(column, std::string("its name") + kContradicts + attribute);
    return TickScale(uri.with("unit", std::string(unit)), tick_ps);
  }
  if (!name.empty()) return TickScale(uri.with("unit", name), tick_ps);
  refuse(column,
         std::string("the times have no unit: the dataset has no attribute 'units', and its name does not end in "
                     "one, as time_us does; ") +
             kAdd);
}

TickScale pulse_scale_of(const SourceUri& uri, const ColumnReader& column, std::uint64_t tick_ps) {
  if (column.number_of("tick_ps")) return time_scale_of(uri, column, tick_ps);
  const auto unit = understood_unit(uri, column).unit;
  return unit.empty() ? time_scale_of(uri, column, tick_ps) : TickScale(uri.with("unit", std::string(unit)), tick_ps);
}

}  // namespace eventloom
