#include "core/definitions/selection_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "core/definitions/text_mistake.hpp"
#include "core/definitions/text_parts.hpp"
#include "formats/units.hpp"

namespace eventloom {

namespace {

/// Longer windows could overflow sums of times.
constexpr std::uint64_t kMostTicks = std::uint64_t{1} << 60;

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 16> digits{};
  auto* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

/// The text up to the sign `close`, which is consumed. `open`: the sign before it.
std::string_view inside(ExpressionText& text, std::string_view open, std::string_view close) {
  const auto part = text.up_to(close);
  if (!text.take(close)) throw TextMistake(open, "'" + std::string(open) + "' is not closed");
  return part;
}

ValueRange range_in(std::string_view text) {
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) throw TextMistake(text, "expected a range of values, as in {505..517}");
  const ValueRange range{parse_part(trimmed(text.substr(0, dots)), parse_real),
                         parse_part(trimmed(text.substr(dots + 2)), parse_real)};
  if (range.low > range.high) throw TextMistake(text, "'" + std::string(text) + "' has its low end above its high end");
  return range;
}

std::int64_t signed_length(std::string_view text, const RunTicks& ticks) {
  const bool negative = text.starts_with('-');
  const bool sign = negative || text.starts_with('+');
  const auto length = parse_length(text.substr(sign ? 1 : 0), ticks).value;
  if (length > kMostTicks) throw std::invalid_argument("'" + std::string(text) + "' is longer than 2^60 ticks");
  return negative ? -static_cast<std::int64_t>(length) : static_cast<std::int64_t>(length);
}

OwnWindow window_in(std::string_view text, const RunTicks& ticks) {
  const auto [from, to] = split_once(text, ',');
  const auto length = [&](std::string_view part) {
    if (part.empty()) throw TextMistake(part, "expected two times around the opening hit, as in [-50ns,120ns]");
    return parse_part(part, [&](auto end) { return signed_length(end, ticks); });
  };
  const OwnWindow window{length(from), length(to)};
  if (window.from <= window.to) return window;
  if (!ticks.known && has_unit_of_time(from) != has_unit_of_time(to)) return {window.to, window.from};
  throw TextMistake(text, "'" + std::string(text) + "' ends before it begins");
}

template <class T, class Parse>
void take_one(ExpressionText& text, const char* open, const char* close, std::optional<T>& to, Parse parse) {
  const auto sign = text.next();
  if (!text.take(open)) return;
  if (to) throw TextMistake(sign, "a second '" + std::string(open) + "' for the same hits");
  to = parse(inside(text, sign, close));
}

}  // namespace

double parse_real(std::string_view text) {
  auto number = text;
  if (number.starts_with('+')) number.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (number.empty() || error != std::errc() || end != number.data() + number.size() || !std::isfinite(value))
    throw std::invalid_argument(is_not(text, "a number"));
  return value;
}

std::string real_text(double number) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

void take_restrictions(ExpressionText& text, const RunTicks& ticks, HitSelection& hits) {
  for (auto sign = text.next(); sign == "{" || sign == "["; sign = text.next()) {
    take_one(text, "{", "}", hits.values, range_in);
    take_one(text, "[", "]", hits.window, [&](auto part) { return window_in(part, ticks); });
  }
}

std::string meaning_of(const HitSelection& hits, const Detector& detector) {
  std::string text;
  switch (hits.of) {
    case HitSelection::Of::group: text = detector.groups()[hits.group]; break;
    case HitSelection::Of::channel: text = "channel:" + hexadecimal(hits.low) + "-" + hexadecimal(hits.high); break;
    case HitSelection::Of::source: text = "source:" + std::to_string(hits.low) + "-" + std::to_string(hits.high); break;
  }
  if (hits.values) text += "{" + real_text(hits.values->low) + ".." + real_text(hits.values->high) + "}";
  if (hits.window) text += "[" + std::to_string(hits.window->from) + "," + std::to_string(hits.window->to) + "]";
  return text;
}

}  // namespace eventloom
