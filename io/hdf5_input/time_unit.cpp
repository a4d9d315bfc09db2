#include "io/hdf5_input/time_unit.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "formats/units.hpp"
#include "formats/utc_time.hpp"
#include "io/files/table_fields.hpp"
#include "io/recorded/clock_unit.hpp"
#include "io/recorded/column_name.hpp"
#include "io/recorded/origin_key.hpp"

namespace eventloom {

namespace {

constexpr const char* kContradicts = " contradicts its attribute ";
constexpr const char* kAdd =
    "add unit=ps, ns, us, ms, s or tick, or the length of a clock's tick such as 12.5ns, to the source";

[[noreturn]] void refuse(const ColumnReader& column, const std::string& reason) {
  throw UserError("'" + column.name() + "': " + reason);
}

std::uint64_t unit_ps(std::string_view unit, std::uint64_t tick_ps) {
  return unit == "tick" ? tick_ps : picoseconds_of(unit).value_or(0);
}

bool is_same(const TimeUnit& unit, std::uint64_t ps) {
  return to_ticks({1, 0}, unit.ps, unit.divisor, Rounding::none) == std::optional(Tick(ps));
}

/// The unit that an attribute states.
struct StatedUnit {
  std::string attribute;    ///< attribute and text, for messages; empty without an attribute
  std::string_view unit;    ///< empty when unknown
  bool of_a_clock = false;  ///< counts the ticks of a clock
};

bool names_ticks(std::string_view word) {
  constexpr std::array<std::string_view, 8> kWords = {"tick",  "ticks",  "count",  "counts",
                                                      "cycle", "cycles", "sample", "samples"};
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(kWords, lower) != kWords.end();
}

constexpr std::string_view kSince = " since ";

StatedUnit stated_unit(const ColumnReader& column) {
  for (const std::string name : {"units", "unit"}) {
    const auto text = column.text_of(name.c_str());
    const auto words = text ? without_blanks_around(*text) : std::string_view();
    if (words.empty()) continue;
    const auto word = without_blanks_around(words.substr(0, words.find(kSince)));
    if (names_ticks(word)) return {name + "='" + *text + "'", {}, true};
    return {name + "='" + *text + "'", unit_of_time(word)};
  }
  return {};
}

/// A time as netCDF writes it: "2026-11-21", "2026-11-21 10:00:00 UTC", "2026-11-21 10:00:00 +01:00".
std::optional<UtcTime> utc_of_date(std::string_view text) {
  constexpr std::string_view kZone = " UTC";
  constexpr std::size_t kDate = std::string_view("2026-11-21").size();
  if (text.ends_with(kZone)) text.remove_suffix(kZone.size());
  if (text.size() == kDate) return parse_utc(std::string(text) + "T00:00:00Z");
  std::string time(text);
  const auto zone = time.find_first_of("+-", kDate);
  if (zone != std::string::npos && time[zone - 1] == ' ') time.erase(zone - 1, 1);
  return parse_utc(time);
}

/// Returns the stated unit; refuses a text that is not a known unit unless the key states one.
StatedUnit understood_unit(const SourceUri& uri, const ColumnReader& column) {
  auto stated = stated_unit(column);
  if (stated.attribute.empty() || !stated.unit.empty() || uri.has("unit")) return stated;
  if (stated.of_a_clock) {
    refuse(column, "its attribute " + stated.attribute + " does not say how long a tick of the clock is: add unit=, " +
                       "the length of a tick such as unit=12.5ns, to the source");
  }
  refuse(column, "its attribute " + stated.attribute + " is not a unit of time that is known: " + kAdd);
}

/// add_offset as a time in the unit of `uri`.
FineTicks offset_of(const SourceUri& uri, const ColumnReader& column, const SignedDecimal& offset, const TimeUnit& unit,
                    std::uint64_t tick_ps) {
  std::uint64_t divisor = 0;
  if (!__builtin_mul_overflow(tick_ps, unit.divisor, &divisor)) {
    const auto ratio = TickRatio::of({unit.ps.digits, unit.ps.exponent + offset.size.exponent}, divisor);
    const auto time = ratio ? ratio->fine(offset.size.digits, offset.is_negative) : std::nullopt;
    if (time) return *time;
  }
  refuse(column, "its attribute add_offset is too large, or has too many digits, for times in " + uri.get("unit", ""));
}

/// `own_scale`: what the number 1 stands for in the unit of `uri`, apart from the attributes.
TimeScale packed_scale(const SourceUri& uri, const ValueColumn& values, std::uint64_t tick_ps,
                       Decimal own_scale = {1, 0}) {
  const auto& column = values.column();
  const auto& packing = values.scale();
  if (!packing.any()) return {TickScale(uri, tick_ps, own_scale)};
  const auto& factor = packing.factor();
  if (factor.is_negative) refuse(column, "its attribute scale_factor is negative, so that times would run backwards");
  const auto unit = clock_unit(uri, "unit", tick_ps, own_scale);
  auto packed = unit;
  if (__builtin_mul_overflow(unit.ps.digits, factor.size.digits, &packed.ps.digits))
    refuse(column, "its attribute scale_factor has too many digits");
  packed.ps.exponent += factor.size.exponent;
  packed.ps = shortest(packed.ps);
  const auto words = fmt::format("{} {}", to_double(factor.size), uri.get("unit", "ns"));
  const auto rounding = uri.has("drift") ? Rounding::nearest : Rounding::none;
  TimeScale scale{TickScale(uri, words, packed, tick_ps, rounding)};
  const auto steps = column.is_float() ? std::nullopt : packing.offset_in_steps();
  if (steps) {
    scale.steps = *steps;
  } else {
    scale.offset = offset_of(uri, column, packing.offset(), unit, tick_ps);
  }
  return scale;
}

}  // namespace

std::optional<StatedReference> stated_reference(const ColumnReader& column) {
  const auto attribute = stated_unit(column).attribute;
  const auto since = attribute.find(kSince);
  if (since == std::string::npos) return std::nullopt;
  const auto text = std::string_view(attribute).substr(since + kSince.size());
  return StatedReference{attribute, utc_of_date(without_blanks_around(text.substr(0, text.rfind('\''))))};
}

std::optional<UtcTime> reference_of(const SourceUri& uri, const ColumnReader& column, std::uint64_t tick_ps) {
  const auto stated = stated_reference(column);
  const auto origin = origin_of(uri, tick_ps);
  if (!stated || (origin && !origin->utc)) return std::nullopt;
  if (!stated->time) {
    refuse(column, "its attribute " + stated->attribute + " names no time such as 2026-11-21T10:00:00Z; origin=0 " +
                       "leaves the numbers as they are");
  }
  if (origin) return stated->time;
  constexpr std::int64_t kNsPerS = 1'000'000'000;
  std::int64_t ns = 0;
  const auto below = static_cast<std::int64_t>(stated->time->attoseconds / kNsPerS);
  const bool fits =
      !__builtin_mul_overflow(stated->time->seconds, kNsPerS, &ns) && !__builtin_add_overflow(ns, below, &ns);
  refuse(column, "its attribute " + stated->attribute +
                     " says from when the times count: say which time becomes tick " +
                     "0, the same for all files of a run: origin=" + (fits ? utc_text(ns) : "0") +
                     " leaves the numbers as they are");
}

TimeScale time_scale_of(const SourceUri& uri, const ValueColumn& values, std::uint64_t tick_ps) {
  const auto& column = values.column();
  const bool has_key = uri.has("unit");
  const auto key = uri.get("unit", "");
  if (const auto own_tick_ps = column.number_of("tick_ps"); own_tick_ps && *own_tick_ps != 0) {
    if (has_key && !is_same(uri.get_unit("unit", tick_ps), *own_tick_ps)) {
      refuse(column, "unit=" + key + kContradicts + "tick_ps=" + std::to_string(*own_tick_ps));
    }
    return packed_scale(uri.with("unit", "ps"), values, tick_ps, {*own_tick_ps, 0});
  }
  const auto [attribute, unit, of_a_clock] = understood_unit(uri, column);
  if (has_key) {
    const auto given = uri.get_unit("unit", tick_ps);
    if (!unit.empty() && !is_same(given, unit_ps(unit, tick_ps)))
      refuse(column, "unit=" + key + kContradicts + attribute);
    return packed_scale(uri, values, tick_ps);
  }
  const auto name = ColumnName(column.name().substr(column.name().find_last_of('/') + 1)).unit;
  if (!unit.empty()) {
    if (!name.empty() && name != unit) refuse(column, std::string("its name") + kContradicts + attribute);
    return packed_scale(uri.with("unit", std::string(unit)), values, tick_ps);
  }
  if (name == "tick") {
    refuse(column,
           "its name does not say how long a tick of the clock is: add unit=, the length of a tick such as "
           "unit=12.5ns, to the source");
  }
  if (!name.empty()) return packed_scale(uri.with("unit", name), values, tick_ps);
  refuse(column,
         std::string("the times have no unit: the dataset has no attribute 'units', and its name does not end in "
                     "one, as time_us does; ") +
             kAdd);
}

TimeScale pulse_scale_of(const SourceUri& uri, const ValueColumn& values, std::uint64_t tick_ps) {
  const auto unit = values.column().number_of("tick_ps") ? "" : understood_unit(uri, values.column()).unit;
  return unit.empty() ? time_scale_of(uri, values, tick_ps)
                      : packed_scale(uri.with("unit", std::string(unit)), values, tick_ps);
}

}  // namespace eventloom
