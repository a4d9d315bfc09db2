#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/definitions/expression.hpp"
#include "core/definitions/run_ticks.hpp"
#include "core/definitions/text_mistake.hpp"
#include "core/definitions/widened_events.hpp"
#include "core/detector/detector.hpp"
#include "formats/units.hpp"

namespace eventloom {

/// The values after the colon of a definition. All functions throw TextMistake; lengths of time are those of
/// parse_length().
class DefinitionValues {
 public:
  /// `values` point into the text; `detector`: never null.
  DefinitionValues(std::vector<std::string_view> values, const RunTicks& ticks, DetectorPtr detector)
      : values_(std::move(values)), ticks_(ticks), detector_(std::move(detector)) {}

  [[nodiscard]] const DetectorPtr& detector() const { return detector_; }
  [[nodiscard]] std::string_view text(std::size_t i) const { return values_[i]; }

  [[nodiscard]] Tick duration(std::size_t i) const {
    return parse_part(values_[i], [this](auto value) { return parse_length(value, ticks_); });
  }
  [[nodiscard]] std::uint64_t count(std::size_t i) const { return parse_part(values_[i], parse_count); }
  /// A count that the user may omit.
  [[nodiscard]] std::uint64_t count_or(std::uint64_t omitted, std::size_t i) const {
    return i < values_.size() ? count(i) : omitted;
  }

  /// The i-th value and the one after it, or neither.
  [[nodiscard]] Widening widening(std::size_t i) const {
    if (i >= values_.size()) return {};
    const auto pre = values_[i];
    if (i + 1 == values_.size()) throw TextMistake(pre.substr(pre.size()), "post is missing, which goes with pre");
    return {duration(i), duration(i + 1)};
  }

  [[nodiscard]] Expression condition(std::size_t i) const {
    return parse_expression(values_[i], ticks_, *detector_, ExpressionUse::condition);
  }

  /// Returns `value` unless it is 0; `name` is the name of the i-th value.
  template <class N>
  [[nodiscard]] N above_0(N value, std::size_t i, const char* name) const {
    if (value == 0) throw TextMistake(values_[i], std::string(name) + " is 0, and must be at least 1");
    return value;
  }

 private:
  std::vector<std::string_view> values_;
  RunTicks ticks_;
  DetectorPtr detector_;
};

}  // namespace eventloom
