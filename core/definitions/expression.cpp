#include "core/definitions/expression.hpp"

#include <algorithm>

namespace eventloom {

bool Expression::uses(Quantity::Kind kind) const {
  return std::ranges::any_of(terms_, [kind](const Term& term) { return term.quantity.kind == kind; });
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
