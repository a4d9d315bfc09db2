#include "core/definitions/run_ticks.hpp"

#include <stdexcept>
#include <string>

#include "formats/units.hpp"

namespace eventloom {

bool has_unit_of_time(std::string_view length) {
  const auto last = length.find_last_of("0123456789.");
  return last != std::string_view::npos && picoseconds_of(length.substr(last + 1)).has_value();
}

Tick parse_length(std::string_view text, const RunTicks& ticks) {
  if (ticks.numbered && has_unit_of_time(text))
    throw std::invalid_argument("'" + std::string(text) + "' " + std::string(kNumbersHaveNoUnit));
  return parse_duration(text, ticks.ps);
}

}  // namespace eventloom
