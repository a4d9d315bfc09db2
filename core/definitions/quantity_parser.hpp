#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/definitions/expression.hpp"
#include "core/definitions/expression_text.hpp"

namespace eventloom {

/// Parses the quantities of expressions, and the hits that they are measured on. All functions throw TextMistake.
class QuantityParser {
 public:
  /// `text`, `ticks` and `detector` must outlive it. Names that are not quantities are groups of `detector`.
  QuantityParser(ExpressionText& text, const RunTicks& ticks, const Detector& detector, ExpressionUse use)
      : text_(text), ticks_(ticks), detector_(detector), use_(use) {}

  /// Consumes a quantity.
  Quantity next();
  /// Consumes hits: the name of a group, channel:LOW-HIGH or source:LOW-HIGH, perhaps restricted by {LOW..HIGH} and
  /// [FROM,TO].
  HitSelection hits();

 private:
  HitSelection hits_called(std::string_view name);
  void require_allowed(Quantity::Kind kind, std::string_view name) const;
  void set_range(HitSelection& hits, std::string_view name, std::uint64_t most, const char* expected);
  void set_selections(Quantity& quantity, std::string_view name);
  void set_causal(Quantity& quantity);
  void need(std::string_view sign, const std::string& as_in);
  [[noreturn]] void refuse_name() const;
  [[noreturn]] void refuse_unknown(std::string_view name) const;

  ExpressionText& text_;
  const RunTicks& ticks_;
  const Detector& detector_;
  ExpressionUse use_;
};

/// Equal for equal quantities.
std::string meaning_of(const Quantity& quantity, const Detector& detector);

}  // namespace eventloom
