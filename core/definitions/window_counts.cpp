#include "core/definitions/window_counts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/definitions/causal_set.hpp"
#include "core/definitions/saturating.hpp"

namespace eventloom {

namespace {

using Kind = Quantity::Kind;

constexpr std::size_t kSystems = 64;
constexpr std::uint32_t system_of(std::uint32_t channel) { return channel >> 22 & 0x3fU; }

bool is_counted(Kind kind) { return kind == Kind::channel || kind == Kind::source || kind == Kind::group; }

/// Minimum hits of a window in which the term holds: no value exceeds the number of hits.
std::uint64_t min_hits_of(const Term& term) {
  const auto& quantity = term.quantity;
  if (quantity.is_real() || quantity.kind == Kind::order || quantity.hits.window) return 0;
  if (!term.negated) return term.least;
  return term.least == 0 && term.span != std::numeric_limits<std::uint64_t>::max() ? term.span + 1 : 0;
}

/// Whether any channel is in two of the groups.
bool overlap(const Detector& detector, GroupSet groups) {
  bool found = false;
  for (std::size_t s = 0; s < detector.sources(); ++s) {
    detector.visit(static_cast<std::uint16_t>(s), [&](std::uint32_t, const ChannelInfo& info) {
      found = found || std::popcount(info.groups & groups) > 1;
    });
  }
  return found;
}

/// Minimum hits from the groups of a conjunction: they add up if no channel is in two groups.
std::uint64_t min_hits_in_groups(const Expression& condition, const Expression::Node& all, const Detector& detector) {
  std::map<std::size_t, std::uint64_t> least;
  GroupSet groups = 0;
  for (const auto& part : all.parts) {
    if (part.op != Expression::Node::Op::term) continue;
    const auto& term = condition.terms()[part.term];
    if (term.quantity.kind != Kind::group) continue;
    auto& of_group = least[term.quantity.group];
    of_group = std::max(of_group, min_hits_of(term));
    groups |= GroupSet{1} << term.quantity.group;
  }
  if (least.empty() || overlap(detector, groups)) return 0;
  std::uint64_t sum = 0;
  for (const auto& [group, hits] : least) sum = saturating_sum({sum, hits});
  return sum;
}

/// Minimum hits of a window in which the expression holds.
std::uint64_t min_hits_of(const Expression& condition, const Expression::Node& node, const Detector& detector) {
  if (node.op == Expression::Node::Op::term) return min_hits_of(condition.terms()[node.term]);
  if (node.op == Expression::Node::Op::none) return 0;
  std::vector<std::uint64_t> parts;
  for (const auto& part : node.parts) parts.push_back(min_hits_of(condition, part, detector));
  if (node.op == Expression::Node::Op::any) return std::ranges::min(parts);
  return std::max(std::ranges::max(parts), min_hits_in_groups(condition, node, detector));
}

}  // namespace

WindowPlan::WindowPlan(Expression condition, DetectorPtr detector)
    : condition_(std::move(condition)),
      detector_(std::move(detector)),
      min_hits_(std::max<std::uint64_t>(min_hits_of(condition_, condition_.root(), *detector_), 1)) {
  count_quantities();
  make_truth();
  if (!condition_.selects()) return;
  memberships_ = ChannelTable<GroupSet>(*detector_, [](const ChannelInfo& info) { return info.groups; });
}

void WindowPlan::count_quantities() {
  for (const auto& term : condition_.terms()) {
    const auto known = std::ranges::find(counted_, term.quantity);
    counts_.push_back(static_cast<std::size_t>(known - counted_.begin()));
    if (is_counted(term.quantity.kind) && known == counted_.end()) counted_.push_back(term.quantity);
  }
  if (counted_.size() > kMaxCounts)
    throw std::invalid_argument("more than " + std::to_string(kMaxCounts) + " groups and ranges to count");
  for (std::size_t i = 0; i < counted_.size(); ++i) {
    if (counted_[i].kind != Kind::group) ranges_.push_back(i);
  }
  groups_ = ChannelTable<std::uint32_t>(*detector_, [this](const ChannelInfo& info) {
    std::uint32_t mark = 0;
    for (std::size_t i = 0; i < counted_.size(); ++i) {
      const bool in_group = counted_[i].kind == Kind::group && (info.groups >> counted_[i].group & 1U) != 0;
      mark |= static_cast<std::uint32_t>(in_group) << i;
    }
    return mark;
  });
}

/// Makes no table for causal sets and selected hits, which are computed only on demand: they are expensive.
void WindowPlan::make_truth() {
  const auto& terms = condition_.terms();
  if (terms.size() > kMaxTabled || condition_.uses(Kind::causal) || condition_.selects()) return;
  truth_ = 0;
  for (unsigned in_span = 0; in_span < 1U << terms.size(); ++in_span) {
    const bool holds =
        condition_.holds([&](std::size_t term) { return ((in_span >> term & 1U) != 0) != terms[term].negated; });
    *truth_ |= static_cast<std::uint64_t>(holds) << in_span;
  }
}

WindowCounts::WindowCounts(const WindowPlan& plan, const SortedHits& hits, std::uint32_t* sums)
    : plan_(plan),
      hits_(hits),
      sums_(sums),
      n_words_(words(plan)),
      least_(static_cast<std::uint32_t>(std::min<std::uint64_t>(plan.min_hits(), hits.keys.size()))),
      counts_distinct_(plan.condition_.uses(Kind::systems) || plan.condition_.uses(Kind::sources)) {
  const auto& condition = plan.condition_;
  if (condition.uses(Kind::systems)) systems_.hits.resize(kSystems);
  if (condition.uses(Kind::sources) && !hits.source.empty())
    sources_.hits.resize(std::size_t{std::ranges::max(hits.source)} + 1);
  if (condition.uses(Kind::group)) groups_ = plan.groups_.of_sources();
  n_sources_ = groups_.size();
  for (std::size_t term = 0; term < condition.terms().size(); ++term) checks_.push_back(check_of(term));
  sum_up_all();
  if (condition.selects()) selected_.emplace(condition, plan.memberships_, hits);
}

/// If groups contain whole sources, the channels of hits need not be looked up.
void WindowCounts::sum_up_all() {
  if (n_words_ == 0) return;
  if (n_words_ > 1) return sum_up_words();
  if (!plan_.ranges_.empty()) return sum_up([this](std::uint32_t number) { return step_of(mark(number)); });
  if (!std::ranges::all_of(groups_, [](const auto& of) { return of.uniform(); }))
    return sum_up([this](std::uint32_t number) { return step_of(group_mark(number)); });
  std::vector<std::uint64_t> steps;
  for (const auto& of : groups_) steps.push_back(step_of(of[0]));
  steps.push_back(0);  // sources unknown to the detector
  sum_up([&](std::uint32_t number) { return steps[std::min<std::size_t>(hits_.source[number], n_sources_)]; });
}

template <class StepOf>
void WindowCounts::sum_up(StepOf step_of_hit) {
  auto* to = sums_;
  std::uint64_t sum = 0;
  put_word(to, sum);
  for (const HitKey key : hits_.keys) put_word(to += kInWord, sum += step_of_hit(number_of(key)));
}

void WindowCounts::sum_up_words() {
  std::array<std::uint64_t, WindowPlan::kMaxCounts / kInWord> sums{};
  auto* to = sums_;
  const auto put = [&](std::uint64_t sum) { put_word(std::exchange(to, to + kInWord), sum); };
  for (std::size_t word = 0; word < n_words_; ++word) put(0);
  for (const HitKey key : hits_.keys) {
    const std::uint32_t marks = mark(number_of(key));
    for (std::size_t word = 0; word < n_words_; ++word) put(sums[word] += step_of(marks >> (kInWord * word)));
  }
}

WindowCounts::Check WindowCounts::check_of(std::size_t term) const {
  const auto& of = plan_.condition_.terms()[term];
  const auto check = [&](const std::uint32_t* value) { return Check{&of, value, of.least, of.span}; };
  switch (of.quantity.kind) {
    case Kind::n_hits: return check(&n_hits_);
    case Kind::systems: return check(&systems_.values);
    case Kind::sources: return check(&sources_.values);
    case Kind::channel:
    case Kind::source:
    case Kind::group: return check(&counts_[plan_.counts_[term]]);
    default: return check(nullptr);
  }
}

void WindowCounts::move_distinct(std::uint32_t first, std::uint32_t end) {
  for (auto at = first_; at < std::min(first, end_); ++at) {
    const std::uint32_t number = number_of(hits_.keys[at]);
    if (!systems_.hits.empty()) systems_.remove(system_of(hits_.channel[number]));
    if (!sources_.hits.empty()) sources_.remove(hits_.source[number]);
  }
  for (auto at = std::max(first, end_); at < end; ++at) {
    const std::uint32_t number = number_of(hits_.keys[at]);
    if (!systems_.hits.empty()) systems_.add(system_of(hits_.channel[number]));
    if (!sources_.hits.empty()) sources_.add(hits_.source[number]);
  }
}

bool WindowCounts::holds() const {
  return plan_.condition_.holds([this](std::size_t number) {
    const auto& [term, value, least, span] = checks_[number];
    return value != nullptr ? term->holds(*value) : holds_on_demand(number);
  });
}

bool WindowCounts::holds_on_demand(std::size_t number) const {
  const auto& term = *checks_[number].term;
  const auto known = term.quantity.selects() ? selected_->value(number) : causal(term.quantity);
  return known && term.holds(*known);
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
