#include "io/hdf5/time_unit.hpp"

#include <optional>
#include <string_view>

#include "core/runtime/error.hpp"
#include "formats/units.hpp"
#include "io/recorded/column_name.hpp"

namespace eventloom {

namespace {

constexpr std::string_view kAdd = "add unit=ps, ns, us, ms, s or tick to the source";

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

/// The unit that the attribute names; empty when there is no attribute, or `otherwise` states what this one does not.
std::string_view unit_of_attribute(const ColumnReader& column, bool otherwise) {
  const auto text = column.text_of("units");
  if (!text || without_blanks(*text).empty()) return {};
  const auto unit = unit_of_time(without_blanks(*text));
  if (!unit.empty() || otherwise) return unit;
  refuse(column, "its attribute units='" + *text + "' is not a unit of time that is known: " + std::string(kAdd));
}

[[noreturn]] void refuse_both(const ColumnReader& column, const std::string& stated, std::string_view attribute) {
  refuse(column, stated + " contradicts the attribute units='" + column.text_of("units").value_or("") + "' (" +
                     std::string(attribute) + ") of the dataset");
}

}  // namespace

TickScale time_scale_of(const SourceUri& uri, const ColumnReader& column, std::uint64_t tick_ps) {
  const bool has_key = uri.has("unit");
  const auto key = uri.get("unit", "");
  if (const auto own_tick_ps = column.number_of("tick_ps"); own_tick_ps && *own_tick_ps != 0) {
    if (has_key && uri.get_unit_ps("unit", tick_ps) != *own_tick_ps) {
      refuse(column, "unit=" + key + " contradicts its attribute tick_ps=" + std::to_string(*own_tick_ps));
    }
    return TickScale(uri.with("unit", "ps"), tick_ps, {*own_tick_ps, 0});
  }
  const auto attribute = unit_of_attribute(column, has_key);
  if (has_key) {
    const auto ps = uri.get_unit_ps("unit", tick_ps);
    if (!attribute.empty() && unit_ps(attribute, tick_ps) != ps) refuse_both(column, "unit=" + key, attribute);
    return TickScale(uri, tick_ps);
  }
  const auto name = ColumnName(column.name().substr(column.name().find_last_of('/') + 1)).unit;
  if (!attribute.empty()) {
    if (!name.empty() && name != attribute) refuse_both(column, "its name", attribute);
    return TickScale(uri.with("unit", std::string(attribute)), tick_ps);
  }
  if (!name.empty()) return TickScale(uri.with("unit", name), tick_ps);
  refuse(column, "the times have no unit: the dataset has no attribute 'units', and its name does not end in one, as " +
                     std::string("time_us does; ") + std::string(kAdd));
}

TickScale pulse_scale_of(const SourceUri& uri, const ColumnReader& column, std::uint64_t tick_ps) {
  const auto unit = unit_of_attribute(column, uri.has("unit"));
  return unit.empty() ? time_scale_of(uri, column, tick_ps) : TickScale(uri.with("unit", std::string(unit)), tick_ps);
}

}  // namespace eventloom
