#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "core/definitions/expression.hpp"
#include "core/definitions/expression_text.hpp"
#include "core/definitions/quantity_parser.hpp"
#include "core/definitions/selection_text.hpp"
#include "core/definitions/text_mistake.hpp"
#include "core/definitions/text_parts.hpp"
#include "formats/units.hpp"

namespace eventloom {

namespace {

using Kind = Quantity::Kind;
using Op = Expression::Node::Op;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
/// Nesting of brackets and !: the parser recurses for each.
constexpr std::size_t kMaxDepth = 100;
constexpr std::size_t kMaxTerms = 1000;

/// Longer comparisons come first.
constexpr std::array<std::string_view, 7> kComparisons = {"==", "!=", "<=", ">=", "<", ">", "="};

std::string without_blanks(std::string_view text) {
  std::string out(text);
  std::erase_if(out, [](char c) { return kBlanks.find(c) != std::string_view::npos; });
  return out;
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
  ExpressionParser(std::string_view text, const RunTicks& ticks, const Detector& detector, ExpressionUse use)
      : whole_(text), text_(text), ticks_(ticks), detector_(detector), quantities_(text_, ticks, detector, use) {}

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
    term.quantity = quantities_.next();
    term.subject = without_blanks(text_.since(begin));
    if (term.quantity.kind == Kind::order) {
      set_values(term, "==", 1);
      term.meaning = meaning_of(term.quantity, detector_);
    } else {
      compare(term);
    }
    term.text = without_blanks(text_.since(begin));
    if (terms_.size() == kMaxTerms) throw TextMistake(begin, "more than " + std::to_string(kMaxTerms) + " comparisons");
    terms_.push_back(std::move(term));
    return {Op::term, terms_.size() - 1};
  }

  /// Parses the comparison with a number after a quantity.
  void compare(Term& term) {
    const auto comparison = this->comparison(term);
    const bool real = term.quantity.is_real();
    const auto value = real ? real_key(real_value()) : this->value(term.quantity.kind);
    if (term.quantity.kind == Kind::prescale) {
      term.quantity.low = value;  // holds if the remainder is 0
    } else {
      set_values(term, comparison, value);
    }
    term.meaning = meaning_of(term.quantity, detector_)
                       .append(comparison == "=" ? "==" : comparison)
                       .append(real ? real_text(real_of(value)) : std::to_string(value));
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

  std::string_view number_word() {
    const auto word = text_.word();
    if (!word.empty()) return word;
    const auto next = text_.next();
    throw TextMistake(next, next.empty() ? "the number is missing" : "expected a number, not " + in_quotes(next));
  }

  double real_value() {
    const bool negative = text_.take("-");
    const double value = parse_part(number_word(), parse_real);
    return negative ? -value : value;
  }

  std::uint64_t value(Kind kind) {
    const auto word = number_word();
    if (kind == Kind::duration) return parse_part(word, [this](auto text) { return parse_length(text, ticks_).value; });
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

  std::string_view whole_;
  ExpressionText text_;
  const RunTicks& ticks_;
  const Detector& detector_;
  QuantityParser quantities_;
  std::vector<Term> terms_;
  std::size_t depth_ = 0;
};

}  // namespace

Expression parse_expression(std::string_view text, const RunTicks& ticks, const Detector& detector, ExpressionUse use) {
  return ExpressionParser(text, ticks, detector, use).parse();
}

std::string_view expression_usage() {
  return "n_hits, duration, systems, sources, channel:LOW-HIGH, source:LOW-HIGH, a group A, A{LOW..HIGH} by value, "
         "A[FROM,TO] by time, sum(A), max(A), channels(A), trigger or causal(V,DT), compared with a number by >= > <= "
         "< == or !=, or order(A,B), or prescale=N, joined by && || ! and brackets";
}

}  // namespace eventloom
