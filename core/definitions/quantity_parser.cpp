#include "core/definitions/quantity_parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "core/definitions/selection_text.hpp"
#include "core/definitions/speed.hpp"
#include "core/definitions/text_mistake.hpp"
#include "core/definitions/text_parts.hpp"
#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/setting.hpp"
#include "formats/markers.hpp"
#include "formats/units.hpp"

namespace eventloom {

namespace {

using Kind = Quantity::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 13> kQuantities = {{{"n_hits", Kind::n_hits},
                                                                            {"duration", Kind::duration},
                                                                            {"systems", Kind::systems},
                                                                            {"sources", Kind::sources},
                                                                            {"channel", Kind::channel},
                                                                            {"source", Kind::source},
                                                                            {"trigger", Kind::trigger},
                                                                            {"prescale", Kind::prescale},
                                                                            {"causal", Kind::causal},
                                                                            {"channels", Kind::channels},
                                                                            {"sum", Kind::sum},
                                                                            {"max", Kind::max},
                                                                            {"order", Kind::order}}};

std::optional<Kind> kind_of(std::string_view name) {
  const auto* const found = std::ranges::find(kQuantities, name, &std::pair<std::string_view, Kind>::first);
  return found == kQuantities.end() ? std::nullopt : std::optional(found->second);
}

std::string_view name_of(Kind kind) {
  return std::ranges::find(kQuantities, kind, &std::pair<std::string_view, Kind>::second)->first;
}

std::uint64_t parse_number(std::string_view text, std::uint64_t most, const char* expected) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const auto digits = hex ? text.substr(2) : text;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size() || number > most)
    throw TextMistake(text, is_not(text, expected));
  return number;
}

/// Selects the hits that a quantity counts: those of a group, of channels or of sources.
HitSelection counted_hits(const Quantity& quantity) {
  const auto of = quantity.kind == Kind::group     ? HitSelection::Of::group
                  : quantity.kind == Kind::channel ? HitSelection::Of::channel
                                                   : HitSelection::Of::source;
  return {of, quantity.group, quantity.low, quantity.high, {}, {}};
}

/// Number of these hits.
Quantity count_of(const HitSelection& hits) {
  Quantity quantity;
  if (hits.values || hits.window) {
    quantity.kind = Kind::selected;
    quantity.hits = hits;
    return quantity;
  }
  quantity.kind = hits.of == HitSelection::Of::group     ? Kind::group
                  : hits.of == HitSelection::Of::channel ? Kind::channel
                                                         : Kind::source;
  quantity.group = hits.group;
  quantity.low = hits.low;
  quantity.high = hits.high;
  return quantity;
}

bool names_hits(std::optional<Kind> kind) { return !kind || *kind == Kind::channel || *kind == Kind::source; }

}  // namespace

std::string meaning_of(const Quantity& quantity, const Detector& detector) {
  const auto function = [&](const std::string& arguments) {
    return std::string(name_of(quantity.kind)).append("(").append(arguments).append(")");
  };
  switch (quantity.kind) {
    case Kind::channel:
    case Kind::source:
    case Kind::group: return meaning_of(counted_hits(quantity), detector);
    case Kind::causal: return function(real_text(quantity.speed) + "m/tick," + std::to_string(quantity.slack.value));
    case Kind::selected: return meaning_of(quantity.hits, detector);
    case Kind::channels:
    case Kind::sum:
    case Kind::max: return function(meaning_of(quantity.hits, detector));
    case Kind::order: return function(meaning_of(quantity.hits, detector) + "," + meaning_of(quantity.later, detector));
    default: break;
  }
  return std::string(name_of(quantity.kind));
}

Quantity QuantityParser::next() {
  const auto name = text_.word();
  if (name.empty()) refuse_name();
  const auto kind = kind_of(name);
  if (names_hits(kind)) return count_of(hits_called(name));
  Quantity quantity;
  quantity.kind = *kind;
  require_allowed(*kind, name);
  if (*kind == Kind::causal) set_causal(quantity);
  if (quantity.selects()) set_selections(quantity, name);
  return quantity;
}

HitSelection QuantityParser::hits() {
  const auto name = text_.word();
  if (name.empty()) throw TextMistake(text_.next(), "expected the name of a group");
  if (!names_hits(kind_of(name)))
    throw TextMistake(name, in_quotes(name) + " is not a group, channel:LOW-HIGH or source:LOW-HIGH");
  return hits_called(name);
}

HitSelection QuantityParser::hits_called(std::string_view name) {
  HitSelection hits;
  const auto kind = kind_of(name);
  if (kind == Kind::channel) {
    hits.of = HitSelection::Of::channel;
    set_range(hits, name, kValueMask, "a channel (0 to 0xfffffff)");
  } else if (kind == Kind::source) {
    hits.of = HitSelection::Of::source;
    set_range(hits, name, 0xffff, "the number of a source (0 to 65535)");
  } else {
    const auto group = detector_.group(name);
    if (!group) refuse_unknown(name);
    hits.group = *group;
  }
  take_restrictions(text_, ticks_, hits);
  return hits;
}

void QuantityParser::need(std::string_view sign, const std::string& as_in) {
  if (!text_.take(sign)) throw TextMistake(text_.here(), "expected " + in_quotes(sign) + " as in " + as_in);
}

void QuantityParser::set_selections(Quantity& quantity, std::string_view name) {
  const bool two = quantity.kind == Kind::order;
  const auto as_in = std::string(name) + (two ? "(A,B)" : "(A)");
  need("(", as_in);
  quantity.hits = hits();
  if (two) need(",", as_in);
  if (two) quantity.later = hits();
  need(")", as_in);
}

void QuantityParser::set_causal(Quantity& quantity) {
  constexpr const char* kAsIn = "causal(0.3m/ns,20ns)";
  need("(", kAsIn);
  quantity.speed = parse_part(text_.up_to(",)"), [this](auto text) { return parse_speed(text, ticks_); });
  need(",", kAsIn);
  quantity.slack = parse_part(text_.up_to(",)"), [this](auto text) { return parse_length(text, ticks_); });
  need(")", kAsIn);
}

void QuantityParser::require_allowed(Kind kind, std::string_view name) const {
  const bool of_events = kind == Kind::prescale || kind == Kind::duration || kind == Kind::trigger;
  if (use_ == ExpressionUse::filter || !of_events) return;
  throw TextMistake(name, "a condition on the hits of a window has no " + in_quotes(name) + ": move it to " +
                              name_of(Setting::filter));
}

void QuantityParser::set_range(HitSelection& hits, std::string_view name, std::uint64_t most, const char* expected) {
  if (!text_.take(":")) {
    throw TextMistake(text_.here(), in_quotes(name) + " needs a number or a range, as in " + std::string(name) +
                                        (name == "channel" ? ":0x1200-0x12ff" : ":3-5"));
  }
  const auto first = text_.word();
  const auto second = text_.take("-") ? text_.word() : first;
  hits.low = parse_number(first, most, expected);
  hits.high = parse_number(second, most, expected);
  if (hits.low <= hits.high) return;
  throw TextMistake(text_.since(first), in_quotes(text_.since(first)) + " has its low end above its high end");
}

void QuantityParser::refuse_name() const {
  const auto next = text_.next();
  throw TextMistake(next, next.empty() ? "a comparison is missing, as in n_hits>=8"
                                       : "expected the name of a quantity, not " + in_quotes(next));
}

void QuantityParser::refuse_unknown(std::string_view name) const {
  std::vector<std::string_view> known;
  for (const auto& [quantity, kind] : kQuantities) known.push_back(quantity);
  known.insert(known.end(), detector_.groups().begin(), detector_.groups().end());
  std::string groups;
  for (const auto& group : detector_.groups()) groups.append(groups.empty() ? "" : ", ").append(group);
  if (name == "not") throw TextMistake(name, "write ! for 'not'");
  throw TextMistake(
      name, in_quotes(name) + " is neither a quantity nor a group" + did_you_mean(name, known) +
                (groups.empty() ? "; groups come from " + name_of(Setting::group) + " or " + name_of(Setting::detector)
                                : "; groups: " + groups));
}

}  // namespace eventloom
