#include "expression_reference.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>

namespace eventloom::test {

namespace {

using HitSpan = std::span<const RefHit>;

std::uint64_t count_in_group(const std::string& group, HitSpan hits) {
  std::vector<RefGroup> parts;
  std::ranges::copy_if(reference_groups(), std::back_inserter(parts), [&](const auto& p) { return p.name == group; });
  return static_cast<std::uint64_t>(std::ranges::count_if(hits, [&](const RefHit& hit) {
    return std::ranges::any_of(parts, [&](const RefGroup& part) {
      return part.source.value_or(hit.source) == hit.source && part.low <= hit.channel && hit.channel <= part.high;
    });
  }));
}

}  // namespace

const std::vector<RefGroup>& reference_groups() {
  constexpr std::uint32_t kLast = 0xfffffff;
  static const std::vector<RefGroup> groups = {
      {"A", std::nullopt, 0, 99},         {"A", std::nullopt, 0x5000000, 0x7ffffff},
      {"B", std::uint16_t{1}, 50, 499},   {"B", std::uint16_t{1}, 0x6000000, 0xbffffff},
      {"B", std::uint16_t{0}, 20, kLast}, {"none", std::uint16_t{0}, 1, 0}};
  return groups;
}

RefExpression::RefExpression(const std::string& text) {
  std::size_t at = 0;
  root_ = parse_any(text, at);
  if (at != text.size()) throw std::invalid_argument(text);
}

bool RefExpression::holds(HitSpan hits) const { return root_.holds(hits); }

bool RefExpression::Node::holds(HitSpan hits) const {
  const auto part_holds = [&](const Node& part) { return part.holds(hits); };
  if (join == Join::term) return term.holds(hits);
  if (join == Join::all) return std::ranges::all_of(parts, part_holds);
  return std::ranges::any_of(parts, part_holds) == (join == Join::any);
}

RefExpression::Node RefExpression::parse_any(const std::string& text, std::size_t& at) {
  Node node{.join = Join::any, .parts = {parse_all(text, at)}};
  for (; text.compare(at, 2, "||") == 0; node.parts.push_back(parse_all(text, at))) at += 2;
  return node;
}

RefExpression::Node RefExpression::parse_all(const std::string& text, std::size_t& at) {
  Node node{.join = Join::all, .parts = {parse_one(text, at)}};
  for (; text.compare(at, 2, "&&") == 0; node.parts.push_back(parse_one(text, at))) at += 2;
  return node;
}

RefExpression::Node RefExpression::parse_one(const std::string& text, std::size_t& at) {
  const char first = text.at(at);
  if (first == '!') return {.join = Join::none, .parts = {parse_one(text, ++at)}};
  if (first == '(') {
    auto node = parse_any(text, ++at);
    if (text.at(at++) != ')') throw std::invalid_argument(text);
    return node;
  }
  const auto begin = at;
  at = std::min({text.find("&&", begin), text.find("||", begin), text.find(')', begin), text.size()});
  return {.term = parse_term(text.substr(begin, at - begin))};
}

RefExpression::Term RefExpression::parse_term(const std::string& text) {
  static const std::regex form("(\\w+)(?::(\\w+)-(\\w+))?(==|!=|<=|>=|<|>)(\\d+)");
  std::smatch parts;
  if (!std::regex_match(text, parts, form)) throw std::invalid_argument(text);
  const auto number = [&](std::size_t i) { return parts[i].matched ? std::stoull(parts[i], nullptr, 0) : 0; };
  return {parts[1], number(2), number(3), parts[4], number(5)};
}

std::uint64_t RefExpression::Term::measure(HitSpan hits) const {
  if (name == "n_hits") return hits.size();
  if (name == "duration") return hits.empty() ? 0 : (hits.back().time - hits.front().time).value;
  if (name == "sources" || name == "systems") {
    std::set<std::uint32_t> values;
    for (const auto& hit : hits) values.insert(name == "sources" ? hit.source : hit.channel >> 22 & 63U);
    return values.size();
  }
  if (name != "channel" && name != "source") return count_in_group(name, hits);
  const bool of_channels = name == "channel";
  return static_cast<std::uint64_t>(std::ranges::count_if(hits, [&](const RefHit& hit) {
    const auto value = of_channels ? hit.channel : hit.source;
    return low <= value && value <= high;
  }));
}

bool RefExpression::Term::holds(HitSpan hits) const {
  static const std::map<std::string, std::function<bool(std::uint64_t, std::uint64_t)>> comparisons = {
      {"==", std::equal_to<>()},   {"!=", std::not_equal_to<>()}, {"<", std::less<>()},
      {"<=", std::less_equal<>()}, {">", std::greater<>()},       {">=", std::greater_equal<>()}};
  return comparisons.at(comparison)(measure(hits), number);
}

}  // namespace eventloom::test
