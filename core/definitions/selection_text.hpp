#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/definitions/expression_text.hpp"
#include "core/definitions/hit_selection.hpp"
#include "core/definitions/run_ticks.hpp"

namespace eventloom {

/// A decimal number, perhaps negative. Throws std::invalid_argument.
double parse_real(std::string_view text);
/// The shortest text that gives the same number.
std::string real_text(double number);

/// Parses what may follow the name of hits: a range of values such as {505..517}, and a separate window such as
/// [-50ns,120ns], in either order. Throws TextMistake.
void take_restrictions(ExpressionText& text, const RunTicks& ticks, HitSelection& hits);

/// Equal for equal selections, and parsed as the same: lengths are in ticks.
std::string meaning_of(const HitSelection& hits, const Detector& detector);

}  // namespace eventloom
