#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "core/definitions/expression.hpp"
#include "core/definitions/expression_text.hpp"
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
using Op = Expression::Node::Op;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
/// Nesting of brackets and !: the parser recurses for each.
constexpr std::size_t kMaxDepth = 100;
constexpr std::size_t kMaxTerms = 1000;

constexpr std::array<std::pair<std::string_view, Kind>, 9> kQuantities = {{{"n_hits", Kind::n_hits},
                                                                           {"duration", Kind::duration},
                                                                           {"systems", Kind::systems},
                                                                           {"sources", Kind::sources},
                                                                           {"channel", Kind::channel},
                                                                           {"source", Kind::source},
                                                                           {"trigger", Kind::trigger},
                                                                           {"prescale", Kind::prescale},
                                                                           {"causal", Kind::causal}}};

/// Longer comparisons come first.
constexpr std::array<std::string_view, 7> kComparisons = {"==", "!=", "<=", ">=", "<", ">", "="};

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string without_blanks(std::string_view text) {
  std::string out(text);
  std::erase_if(out, [](char c) { return kBlanks.find(c) != std::string_view::npos; });
  return out;
}

std::optional<Kind> kind_of(std::string_view name) {
  const auto* const found = std::ranges::find(kQuantities, name, &std::pair<std::string_view, Kind>::first);
  return found == kQuantities.end() ? std::nullopt : std::optional(found->second);
}

std::uint64_t parse_number(std::string_view text, std::uint64_t most, const char* expected) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const auto digits = hex ? text.substr(2) : text;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size() || number > most)
    throw TextMistake(text, in_quotes(text) + " is not " + expected);
  return number;
}

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

std::string exactly(double number) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

/// Equal for equal quantities.
std::string meaning_of(const Quantity& quantity, const Detector& detector) {
  switch (quantity.kind) {
    case Kind::channel: return "channel:" + hexadecimal(quantity.low) + "-" + hexadecimal(quantity.high);
    case Kind::source: return "source:" + std::to_string(quantity.low) + "-" + std::to_string(quantity.high);
    case Kind::group: return detector.groups()[quantity.group];
    case Kind::causal:
      return "causal(" + exactly(quantity.speed) + "m/tick," + std::to_string(quantity.slack.value) + ")";
    default: break;
  }
  return std::string(std::ranges::find(kQuantities, quantity.kind, &std::pair<std::string_view, Kind>::second)->first);
}

/// Sets which values satisfy the term, see Term.
void set_values(Term& term, std::string_view comparison, std::uint64_t value) {
  term.negated = comparison == "!=" || comparison == "<" || comparison == ">";
  if (comparison == ">=" || comparison == "<") {
    term.least = value;
    term.span = kMost - value;
  } else if (comparison == "<=" || comparison == ">") {
    term.span = value;
  } else {
    term.least = value;
  }
}

/// Parses by recursive descent: any of all of terms, each of which may be negated or an expression in brackets.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, std::uint64_t tick_ps, const Detector& detector, ExpressionUse use)
      : whole_(text), text_(text), tick_ps_(tick_ps), detector_(detector), use_(use) {}

  Expression parse() {
    auto root = any();
    if (!text_.at_end()) refuse_rest();
    return {std::string(trimmed(whole_)), std::move(terms_), std::move(root)};
  }

 private:
  Expression::Node any() {
    return joined(Op::any, "||", [this] { return joined(Op::all, "&&", [this] { return factor(); }); });
  }

  template <class Part>
  Expression::Node joined(Op op, std::string_view sign, Part part) {
    Expression::Node first = part();
    if (!text_.take(sign)) return first;
    Expression::Node node{op};
    node.parts.push_back(std::move(first));
    do node.parts.push_back(part());
    while (text_.take(sign));
    return node;
  }

  Expression::Node factor() {
    const auto here = text_.here();
    if (++depth_ > kMaxDepth)
      throw TextMistake(here, "more than " + std::to_string(kMaxDepth) + " brackets and ! inside each other");
    auto node = text_.take("!") ? Expression::Node{Op::none, 0, {factor()}} : bracket_or_term();
    --depth_;
    return node;
  }

  Expression::Node bracket_or_term() {
    const auto bracket = text_.next();
    if (!text_.take("(")) return term();
    auto node = any();
    if (text_.take(")")) return node;
    if (text_.at_end()) throw TextMistake(bracket, "this bracket is not closed");
    refuse_rest();
  }

  Expression::Node term() {
    const auto begin = text_.here();
    Term term;
    term.quantity = quantity();
    term.subject = without_blanks(text_.since(begin));
    const auto comparison = this->comparison(term);
    const auto value = this->value(term.quantity.kind);
    if (term.quantity.kind == Kind::prescale) {
      term.quantity.low = value;  // holds if the remainder is 0
    } else {
      set_values(term, comparison, value);
    }
    term.text = without_blanks(text_.since(begin));
    term.meaning = meaning_of(term.quantity, detector_)
                       .append(comparison == "=" ? "==" : comparison)
                       .append(std::to_string(value));
    if (terms_.size() == kMaxTerms) throw TextMistake(begin, "more than " + std::to_string(kMaxTerms) + " comparisons");
    terms_.push_back(std::move(term));
    return {Op::term, terms_.size() - 1};
  }

  Quantity quantity() {
    const auto name = text_.word();
    if (name.empty()) refuse_name();
    const auto kind = kind_of(name);
    Quantity quantity;
    if (!kind) {
      const auto group = detector_.group(name);
      if (!group) refuse_unknown(name);
      quantity.kind = Kind::group;
      quantity.group = *group;
      return quantity;
    }
    quantity.kind = *kind;
    require_allowed(*kind, name);
    if (*kind == Kind::channel) set_range(quantity, name, kValueMask, "a channel (0 to 0xfffffff)");
    if (*kind == Kind::source) set_range(quantity, name, 0xffff, "the number of a source (0 to 65535)");
    if (*kind == Kind::causal) set_causal(quantity);
    return quantity;
  }

  void require_allowed(Kind kind, std::string_view name) const {
    const bool of_events = kind == Kind::prescale || kind == Kind::duration || kind == Kind::trigger;
    if (use_ == ExpressionUse::filter || !of_events) return;
    throw TextMistake(name, "a condition on the hits of a window has no " + in_quotes(name) + ": move it to " +
                                name_of(Setting::filter));
  }

  void set_range(Quantity& quantity, std::string_view name, std::uint64_t most, const char* expected) {
    if (!text_.take(":")) {
      throw TextMistake(text_.here(), in_quotes(name) + " needs a number or a range, as in " + std::string(name) +
                                          (name == "channel" ? ":0x1200-0x12ff" : ":3-5"));
    }
    const auto first = text_.word();
    const auto second = text_.take("-") ? text_.word() : first;
    quantity.low = parse_number(first, most, expected);
    quantity.high = parse_number(second, most, expected);
    if (quantity.low <= quantity.high) return;
    throw TextMistake(text_.since(first), in_quotes(text_.since(first)) + " has its low end above its high end");
  }

  void set_causal(Quantity& quantity) {
    const auto need = [this](std::string_view sign) {
      if (!text_.take(sign))
        throw TextMistake(text_.here(), "expected " + in_quotes(sign) + " as in causal(0.3m/ns,20ns)");
    };
    need("(");
    quantity.speed = parse_part(text_.up_to(",)"), [this](auto text) { return parse_speed(text, tick_ps_); });
    need(",");
    quantity.slack = parse_part(text_.up_to(",)"), [this](auto text) { return parse_duration(text, tick_ps_); });
    need(")");
  }

  std::string_view comparison(const Term& term) {
    const auto here = text_.next();
    for (const auto sign : kComparisons) {
      if (!text_.take(sign)) continue;
      if (term.quantity.kind == Kind::prescale && sign != "=" && sign != "==")
        throw TextMistake(here, "prescale takes '=' only");
      return sign;
    }
    throw TextMistake(here,
                      "expected a comparison of " + in_quotes(term.subject) + ": >= > <= < == or != and a number");
  }

  std::uint64_t value(Kind kind) {
    const auto word = text_.word();
    if (word.empty()) {
      const auto next = text_.next();
      throw TextMistake(next, next.empty() ? "the number is missing" : "expected a number, not " + in_quotes(next));
    }
    if (kind == Kind::duration)
      return parse_part(word, [this](auto text) { return parse_duration(text, tick_ps_).value; });
    const auto value = parse_part(word, parse_count);
    if (kind == Kind::prescale && value == 0) throw TextMistake(word, "prescale is 0");
    return value;
  }

  /// Reports text after an expression that does not continue it.
  [[noreturn]] void refuse_rest() const {
    const auto next = text_.next();
    const auto instead = next == "&" || next == "and" ? "&&" : next == "|" || next == "or" ? "||" : "";
    if (next == ")") throw TextMistake(next, "this bracket was not opened");
    if (*instead != '\0') throw TextMistake(next, std::string("write ") + instead + " for " + in_quotes(next));
    throw TextMistake(next, "expected && or || before " + in_quotes(next));
  }

  [[noreturn]] void refuse_name() const {
    const auto next = text_.next();
    throw TextMistake(next, next.empty() ? "a comparison is missing, as in n_hits>=8"
                                         : "expected the name of a quantity, not " + in_quotes(next));
  }

  [[noreturn]] void refuse_unknown(std::string_view name) const {
    std::vector<std::string_view> known;
    for (const auto& [quantity, kind] : kQuantities) known.push_back(quantity);
    known.insert(known.end(), detector_.groups().begin(), detector_.groups().end());
    std::string groups;
    for (const auto& group : detector_.groups()) groups.append(groups.empty() ? "" : ", ").append(group);
    if (name == "not") throw TextMistake(name, "write ! for 'not'");
    throw TextMistake(name, in_quotes(name) + " is neither a quantity nor a group" + did_you_mean(name, known) +
                                (groups.empty() ? "; groups come from " + name_of(Setting::group) + " or " +
                                                      name_of(Setting::detector)
                                                : "; groups: " + groups));
  }

  std::string_view whole_;
  ExpressionText text_;
  std::uint64_t tick_ps_;
  const Detector& detector_;
  ExpressionUse use_;
  std::vector<Term> terms_;
  std::size_t depth_ = 0;
};

}  // namespace

Expression parse_expression(std::string_view text, std::uint64_t tick_ps, const Detector& detector, ExpressionUse use) {
  return ExpressionParser(text, tick_ps, detector, use).parse();
}

std::string_view expression_usage() {
  return "n_hits, duration, systems, sources, channel:LOW-HIGH, source:LOW-HIGH, the name of a group, trigger or "
         "causal(V,DT), compared with a number by >= > <= < == or !=, or prescale=N, joined by && || ! and brackets";
}

}  // namespace eventloom
