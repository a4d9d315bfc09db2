#include "core/definitions/expression.hpp"

#include <algorithm>

namespace eventloom {

bool Expression::uses(Quantity::Kind kind) const {
  return std::ranges::any_of(terms_, [kind](const Term& term) { return term.quantity.kind == kind; });
}

const Term* Expression::term_with_values() const {
  const auto found = std::ranges::find_if(terms_, [](const Term& term) { return term.quantity.uses_values(); });
  return found == terms_.end() ? nullptr : &*found;
}

bool Expression::uses_detector() const {
  return uses(Quantity::Kind::group) || uses(Quantity::Kind::causal) || selects();
}

bool Expression::selects() const {
  return std::ranges::any_of(terms_, [](const Term& term) { return term.quantity.selects(); });
}

OwnWindow Expression::windows() const {
  OwnWindow all;
  const auto add = [&all](const std::optional<OwnWindow>& window) {
    if (window) all = {std::min(all.from, window->from), std::max(all.to, window->to)};
  };
  for (const auto& term : terms_) {
    add(term.quantity.hits.window);
    add(term.quantity.later.window);
  }
  return all;
}

/// `inside`: part of an && node, in which || needs brackets.
std::string Expression::meaning_of(const Node& node, bool inside) const {
  if (node.op == Node::Op::term) return terms_[node.term].meaning;
  if (node.op == Node::Op::none) return "!(" + meaning_of(node.parts.front(), false) + ")";
  std::string all;
  for (const auto& part : node.parts) {
    if (!all.empty()) all += node.op == Node::Op::all ? "&&" : "||";
    all += meaning_of(part, node.op == Node::Op::all);
  }
  return inside && node.op == Node::Op::any ? "(" + all + ")" : all;
}

}  // namespace eventloom
