#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/definitions/hit_selection.hpp"
#include "core/definitions/run_ticks.hpp"
#include "core/detector/detector.hpp"
#include "formats/ids.hpp"

namespace eventloom {

/// The quantities that expressions compare with numbers, measured on the hits of an event or of a window.
struct Quantity {
  enum class Kind : std::uint8_t {
    n_hits,
    duration,  ///< duration in ticks
    systems,   ///< number of different systems
    sources,   ///< number of different sources
    channel,   ///< hits of channels between low and high
    source,    ///< hits of sources between low and high
    group,     ///< hits of a group of the detector
    trigger,   ///< trigger type, of triggered data
    prescale,  ///< the hash of the event's time modulo `low`
    causal,    ///< size of the causal set, see causal_set.hpp
    selected,  ///< number of the hits `hits`
    channels,  ///< number of different channels among them
    sum,       ///< sum of their values, a real number
    max,       ///< largest of their values, a real number
    order,     ///< 1 if the first of them is not later than the first of `later`, else 0; 0 if either is absent
  };
  Kind kind = Kind::n_hits;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::size_t group = 0;  ///< index in Detector::groups()
  double speed = 0;       ///< causal: metres per tick
  Tick slack = 0;         ///< causal: ticks
  HitSelection hits;      ///< selected, channels, sum, max, order
  HitSelection later;     ///< order

  /// Whether it is measured on selected hits.
  [[nodiscard]] bool selects() const { return kind >= Kind::selected; }
  /// Whether it is a real number, which terms compare by its real_key().
  [[nodiscard]] bool is_real() const { return kind == Kind::sum || kind == Kind::max; }
  [[nodiscard]] bool uses_values() const { return is_real() || hits.values || later.values; }

  friend bool operator==(const Quantity&, const Quantity&) = default;
};

/// A quantity compared with a number.
struct Term {
  Quantity quantity;
  std::uint64_t least = 0;  ///< it holds for values from `least` to `least + span`, or for all others if negated
  std::uint64_t span = 0;
  bool negated = false;
  std::string subject;  ///< the quantity as written by the user, without blanks
  std::string text;     ///< the whole term, likewise
  std::string meaning;  ///< equal for all texts with the same meaning

  [[nodiscard]] bool holds(std::uint64_t value) const { return (value - least <= span) != negated; }
};

/// Terms joined by && || ! and brackets. Immutable.
class Expression {
 public:
  struct Node {
    enum class Op : std::uint8_t { term, all, any, none };
    Op op = Op::term;
    std::size_t term = 0;
    std::vector<Node> parts = {};  ///< empty for a single term
  };

  Expression(std::string text, std::vector<Term> terms, Node root)
      : text_(std::move(text)), terms_(std::move(terms)), root_(std::move(root)) {}

  /// The expression as written by the user.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// Normal form: durations in ticks, no blanks, no redundant brackets.
  [[nodiscard]] std::string meaning() const { return meaning_of(root_, false); }
  [[nodiscard]] const std::vector<Term>& terms() const { return terms_; }
  [[nodiscard]] const Node& root() const { return root_; }
  [[nodiscard]] bool uses(Quantity::Kind kind) const;
  /// The first term that depends on the values of hits; null if none does.
  [[nodiscard]] const Term* term_with_values() const;
  [[nodiscard]] bool uses_values() const { return term_with_values() != nullptr; }
  /// Whether it depends on the detector: on groups, positions or values.
  [[nodiscard]] bool uses_detector() const;
  /// Whether any term selects hits, see Quantity::selects().
  [[nodiscard]] bool selects() const;
  /// The shortest window around the opening hit that includes it and the windows of all terms that have their own.
  [[nodiscard]] OwnWindow windows() const;

  /// Whether the expression holds, given `term_holds(i)` for the i-th term. Evaluates terms left to right, and stops
  /// once decided.
  template <class TermHolds>
  [[nodiscard]] bool holds(const TermHolds& term_holds) const {
    return decide(root_, term_holds);
  }

 private:
  template <class TermHolds>
  static bool decide(const Node& node, const TermHolds& term_holds) {
    if (node.op == Node::Op::term) return term_holds(node.term);
    const bool stops_at = node.op != Node::Op::all;
    for (const auto& part : node.parts) {
      if (decide(part, term_holds) == stops_at) return node.op == Node::Op::any;
    }
    return node.op != Node::Op::any;
  }
  [[nodiscard]] std::string meaning_of(const Node& node, bool inside) const;

  std::string text_;
  std::vector<Term> terms_;
  Node root_;
};

/// Use of an expression: a condition of an event definition has neither prescale, duration nor trigger.
enum class ExpressionUse : std::uint8_t { filter, condition };

/// Parses an expression; names that are not quantities are groups of `detector`. Throws TextMistake.
Expression parse_expression(std::string_view text, const RunTicks& ticks, const Detector& detector,
                            ExpressionUse use = ExpressionUse::filter);

/// The error message for a term with values where no hit has any.
inline constexpr std::string_view kNeedsValues =
    "needs the values of hits, and no source of this run has payload; say which column it is, as in payload=energy";

/// All forms of a term, for messages and `--help`.
std::string_view expression_usage();

}  // namespace eventloom
