#include "io/packed/packed_clock.hpp"

#include <algorithm>
#include <limits>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

bool is_numbered(const SourceUri& uri) {
  const bool numbered = uri.get_yes("numbered");
  if (numbered && (uri.has("unit") || uri.has("round") || uri.has("drift"))) {
    uri.refuse("event numbers have no unit; omit unit=, drift= and round=");
  }
  return numbered;
}

SourceUri clock_uri(const SourceUri& uri, const PackedField& time, bool numbered) {
  if (numbered) return uri.with("unit", "tick");
  return time.is_float() && !uri.has("round") ? uri.with("round", "nearest") : uri;
}

}  // namespace

PackedClock::PackedClock(const SourceUri& uri, const PackedField& time, std::uint64_t tick_ps)
    : uri_(uri),
      field_(time),
      numbered_(is_numbered(uri)),
      scale_(clock_uri(uri, time, numbered_), tick_ps, time.scale()),
      turns_(uri) {
  if (turns_.any() && time.is_float()) uri.refuse("bits= and modulus= are of whole numbers, which time= is not");
}

bool PackedClock::convert(std::span<Tick> times) const {
  if (field_.is_float() || turns_.any()) return false;
  const auto factor = scale_.factor();
  if (factor == 1) return true;
  if (factor == 0 || std::ranges::max(times) > std::numeric_limits<Tick>::max() / factor) return false;
  for (Tick& time : times) time = time * factor;
  return true;
}

std::optional<std::uint64_t> PackedClock::unwrapped(std::uint64_t number, std::uint32_t channel) {
  return field_.is_signed() ? turns_.extend_signed(field_.to_whole(number), channel) : turns_.extend(number, channel);
}

std::string PackedClock::defect(const std::string& place, std::uint64_t number, std::uint32_t channel) {
  if (!turns_.any() || unwrapped(number, channel)) return "the time does not fit";
  const auto text = field_.is_signed() ? std::to_string(field_.to_whole(number)) : std::to_string(number);
  return turns_.misfit(place, text, channel);
}

std::optional<Tick> PackedClock::convert(std::uint64_t number, std::uint32_t channel) {
  if (field_.is_float()) {
    const double value = field_.to_double(number);
    return value >= 0 ? scale_.ticks(value, field_.digits()) : std::nullopt;
  }
  if (turns_.any()) {
    const auto extended = unwrapped(number, channel);
    if (!extended) return std::nullopt;
    number = *extended;
  }
  const auto ticks = scale_.ticks(number);
  if (!ticks && scale_.needs_rounding({number, 0})) {
    throw UserError("source '" + uri_.text() + "': " + scale_.defect(std::to_string(number)));
  }
  return ticks;
}

bool PackedClock::is_imprecise(std::uint64_t number) const {
  return field_.is_float() && !uri_.has("round") && scale_.spacing(field_.to_double(number), field_.digits()) > 1;
}

std::string PackedClock::precision_defect(std::uint64_t number) const {
  return scale_.coarse_defect(field_.to_double(number), field_.digits());
}

}  // namespace eventloom
