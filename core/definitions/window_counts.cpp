#include "core/definitions/window_counts.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/definitions/causal_set.hpp"

namespace eventloom {

namespace {

using Kind = Quantity::Kind;

constexpr std::size_t kSystems = 64;
constexpr std::uint32_t system_of(std::uint32_t channel) { return channel >> 22 & 0x3fU; }

bool is_counted(Kind kind) { return kind == Kind::channel || kind == Kind::source || kind == Kind::group; }

/// Hits that a window has at least when the term holds: none of its values is greater than their number.
std::uint64_t min_hits_of(const Term& term) {
  if (!term.negated) return term.least;
  return term.least == 0 && term.span != std::numeric_limits<std::uint64_t>::max() ? term.span + 1 : 0;
}

/// The same of an expression.
std::uint64_t min_hits_of(const Expression& condition, const Expression::Node& node) {
  if (node.op == Expression::Node::Op::term) return min_hits_of(condition.terms()[node.term]);
  if (node.op == Expression::Node::Op::none) return 0;
  std::vector<std::uint64_t> parts;
  for (const auto& part : node.parts) parts.push_back(min_hits_of(condition, part));
  return node.op == Expression::Node::Op::all ? std::ranges::max(parts) : std::ranges::min(parts);
}

}  // namespace

WindowPlan::WindowPlan(Expression condition, DetectorPtr detector)
    : condition_(std::move(condition)),
      detector_(std::move(detector)),
      groups_(*detector_, [](const ChannelInfo& info) { return info.groups; }),
      min_hits_(std::max<std::uint64_t>(min_hits_of(condition_, condition_.root()), 1)) {
  for (const auto& term : condition_.terms()) {
    const auto known = std::ranges::find(counted_, term.quantity);
    counts_.push_back(static_cast<std::size_t>(known - counted_.begin()));
    if (is_counted(term.quantity.kind) && known == counted_.end()) counted_.push_back(term.quantity);
  }
  if (counted_.size() > kMaxCounts)
    throw std::invalid_argument("more than " + std::to_string(kMaxCounts) + " groups and ranges to count");
}

WindowCounts::WindowCounts(const WindowPlan& plan, const SortedHits& hits, std::uint32_t* marks)
    : plan_(plan), hits_(hits), marks_(marks), n_counts_(plan.counted_.size()) {
  const auto& condition = plan.condition_;
  if (condition.uses(Kind::systems)) systems_.hits.resize(kSystems);
  if (condition.uses(Kind::sources) && !hits.source.empty())
    sources_.hits.resize(std::size_t{std::ranges::max(hits.source)} + 1);
  for (std::size_t s = 0; s < plan.groups_.sources() && condition.uses(Kind::group); ++s)
    groups_.push_back(plan.groups_.of(static_cast<std::uint16_t>(s)));
  for (std::size_t term = 0; term < condition.terms().size(); ++term) checks_.push_back(check_of(term));
}

WindowCounts::Check WindowCounts::check_of(std::size_t term) const {
  const auto& of = plan_.condition_.terms()[term];
  switch (of.quantity.kind) {
    case Kind::n_hits: return {&of, &n_hits_};
    case Kind::systems: return {&of, &systems_.values};
    case Kind::sources: return {&of, &sources_.values};
    case Kind::causal: return {&of, nullptr};
    default: return {&of, &counts_[plan_.counts_[term]]};
  }
}

void WindowCounts::move(std::uint32_t first, std::uint64_t last) {
  for (const auto end = std::min(first, end_); first_ < end; ++first_) remove(first_);
  first_ = first;
  for (end_ = std::max(first, end_); end_ < hits_.keys.size() && tick_of(hits_.keys[end_]) <= last; ++end_) add(end_);
  n_hits_ = end_ - first_;
}

std::uint32_t WindowCounts::mark(std::uint32_t number) const {
  const std::uint16_t source = hits_.source[number];
  const std::uint32_t channel = hits_.channel[number];
  const GroupSet groups = source < groups_.size() ? groups_[source][channel] : 0;
  std::uint32_t mark = 0;
  for (std::size_t i = 0; i < n_counts_; ++i) {
    const auto& what = plan_.counted_[i];
    const std::uint64_t place = what.kind == Kind::channel ? channel : source;
    const bool counts =
        what.kind == Kind::group ? (groups >> what.group & 1U) != 0 : place - what.low <= what.high - what.low;
    mark |= static_cast<std::uint32_t>(counts) << i;
  }
  return mark;
}

void WindowCounts::add(std::uint32_t at) {
  const auto number = number_of(hits_.keys[at]);
  if (n_counts_ != 0) marks_[at] = mark(number);
  for (std::size_t i = 0; i < n_counts_; ++i) counts_[i] += marks_[at] >> i & 1U;
  if (!systems_.hits.empty()) systems_.add(system_of(hits_.channel[number]));
  if (!sources_.hits.empty()) sources_.add(hits_.source[number]);
}

void WindowCounts::remove(std::uint32_t at) {
  const auto number = number_of(hits_.keys[at]);
  for (std::size_t i = 0; i < n_counts_; ++i) counts_[i] -= marks_[at] >> i & 1U;
  if (!systems_.hits.empty()) systems_.remove(system_of(hits_.channel[number]));
  if (!sources_.hits.empty()) sources_.remove(hits_.source[number]);
}

std::uint64_t WindowCounts::causal(const Quantity& quantity) const {
  std::vector<PlacedHit> placed;
  for (const HitKey key : hits_.keys.subspan(first_, end_ - first_)) {
    const auto number = number_of(key);
    const auto& place = plan_.detector_->at(hits_.source[number], hits_.channel[number]).position;
    if (place) placed.push_back({tick_of(key), *place});
  }
  return causal_set_size(placed, quantity.speed, quantity.slack);
}

}  // namespace eventloom
