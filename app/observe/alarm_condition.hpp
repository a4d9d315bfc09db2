#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/observe/alarm_quantity.hpp"

namespace eventloom {

/// A condition of --alarm: NAME[:SOURCE] OP NUMBER[UNIT], for example "lost>0", "stalled>5s" or "rate:3<100".
struct AlarmCondition {
  std::string text;      ///< text without blanks
  std::string quantity;  ///< quantity it tests: "lost", "rate:3"
  std::string unit;
  std::optional<std::uint32_t> source;
  AlarmQuantity::Value value;
  bool (*compare)(double, double) = nullptr;
  double limit = 0;

  [[nodiscard]] bool holds(double found) const { return compare(found, limit); }
};

/// Throws UserError.
AlarmCondition parse_alarm_condition(const std::string& text);
/// Throws UserError, also if a condition occurs twice.
std::vector<AlarmCondition> parse_alarm_conditions(const std::vector<std::string>& texts);
/// Throws UserError if a condition names a source that the run does not have.
void require_alarm_sources(const std::vector<AlarmCondition>& conditions, std::size_t n_sources);

/// Example: "12 hits" or "0.25".
std::string alarm_value_text(double value, const std::string& unit);

}  // namespace eventloom
