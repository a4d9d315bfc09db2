#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/definitions/event_definition.hpp"
#include "core/definitions/expression.hpp"
#include "core/detector/channel_table.hpp"
#include "core/detector/detector.hpp"

namespace eventloom {

/// How a condition is measured on windows. Immutable, and shared by threads.
class WindowPlan {
 public:
  static constexpr std::size_t kMaxCounts = 32;

  /// Throws std::invalid_argument when the condition counts more than kMaxCounts different kinds of hits.
  WindowPlan(Expression condition, DetectorPtr detector);

  [[nodiscard]] const Expression& condition() const { return condition_; }
  /// In a window of fewer hits the condition does not hold; at least 1.
  [[nodiscard]] std::uint64_t min_hits() const { return min_hits_; }

 private:
  friend class WindowCounts;

  /// Terms of which all combinations fit into the bits of truth_.
  static constexpr std::size_t kMaxTabled = 6;

  void count_quantities();
  void make_truth();

  Expression condition_;
  DetectorPtr detector_;
  std::vector<Quantity> counted_;       ///< channels, sources and groups to count, different ones
  std::vector<std::size_t> counts_;     ///< by number of the term: its place in counted_, where it is one of those
  ChannelTable<std::uint32_t> groups_;  ///< bit i: the channel is in the group counted_[i]
  std::vector<std::size_t> ranges_;     ///< of counted_ those that are no groups
  std::uint64_t min_hits_ = 1;
  /// Bit i: whether the condition holds where the values of the terms whose bits are set in i, and of no others, lie in
  /// their spans.
  std::optional<std::uint64_t> truth_;
};

/// What a window that moves over sorted hits has of the quantities of a condition. All but the causal set are kept up
/// to date, so that a hit costs the same in windows of any length.
class WindowCounts {
 public:
  /// Numbers of `sums` for n hits.
  static std::size_t room(const WindowPlan& plan, std::size_t n) { return (n + 1) * blocks(plan) * kLanes; }

  /// `sums`: uninitialised room. All arguments must outlive it.
  WindowCounts(const WindowPlan& plan, const SortedHits& hits, std::uint32_t* sums);
  WindowCounts(const WindowCounts&) = delete;  // its checks refer to its counts
  WindowCounts& operator=(const WindowCounts&) = delete;

  /// The window becomes the hits from `first` up to the tick `last`. Neither may fall.
  void move(std::uint32_t first, std::uint64_t last) {
    if (counts_distinct_) {
      for (auto at = first_, end = std::min(first, end_); at < end; ++at) remove_distinct(number_of(hits_.keys[at]));
    }
    std::uint32_t end = end_;
    if (first >= end) {
      end = first;
      for (std::size_t i = 0; i < n_sums_; i += kLanes) std::ranges::copy(Lanes{}, sums_of(first) + i);
    }
    const auto begin = end;
    end = n_sums_ == kLanes ? extend<kLanes>(end, last) : extend<0>(end, last);
    if (counts_distinct_) {
      for (auto at = begin; at < end; ++at) add_distinct(number_of(hits_.keys[at]));
    }
    first_ = first;
    end_ = end;
    n_hits_ = end - first;
    for (std::size_t i = 0; i < n_sums_; i += kLanes) {
      const Lanes before = lanes_at(sums_of(first) + i);
      Lanes count = lanes_at(sums_of(end) + i);
      for (std::size_t lane = 0; lane < kLanes; ++lane) count[lane] -= before[lane];
      std::ranges::copy(count, counts_.data() + i);
    }
  }
  /// Whether the condition holds. Without branches where it can be, as in real data they cannot be predicted.
  [[nodiscard]] bool accepted() const {
    if (!plan_.truth_) return plan_.condition_.holds([this](std::size_t term) { return holds(checks_[term]); });
    unsigned in_span = 0;
    for (std::size_t i = checks_.size(); i-- > 0;) in_span = 2 * in_span + static_cast<unsigned>(checks_[i].in_span());
    return (*plan_.truth_ >> in_span & 1U) != 0;
  }

 private:
  /// Counts that are worked on at once: there are instructions for as many.
  static constexpr std::size_t kLanes = 4;
  using Lanes = std::array<std::uint32_t, kLanes>;
  /// By bits of a mark: what they add to the counts.
  static constexpr auto kSteps = [] {
    std::array<Lanes, std::size_t{1} << kLanes> steps{};
    for (std::uint32_t bits = 0; bits < steps.size(); ++bits) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) steps[bits][lane] = bits >> lane & 1U;
    }
    return steps;
  }();
  static std::size_t blocks(const WindowPlan& plan) { return (plan.counted_.size() + kLanes - 1) / kLanes; }

  /// A term of the condition.
  struct Check {
    const Term* term;
    const std::uint32_t* value;  ///< null for the causal set, which is made when it is asked for
    std::uint64_t least;
    std::uint64_t span;
    [[nodiscard]] bool in_span() const { return *value - least <= span; }
  };
  /// Hits by value of one of their properties.
  struct Distinct {
    std::vector<std::uint32_t> hits;
    std::uint32_t values = 0;  ///< that have hits
    void add(std::size_t value) { values += hits[value]++ == 0 ? 1 : 0; }
    void remove(std::size_t value) { values -= --hits[value] == 0 ? 1 : 0; }
  };

  [[nodiscard]] Check check_of(std::size_t term) const;
  [[nodiscard]] bool holds(const Check& check) const {
    return check.term->holds(check.value != nullptr ? *check.value : causal(check.term->quantity));
  }
  [[nodiscard]] std::uint32_t mark(std::uint32_t number) const {
    const std::uint16_t source = hits_.source[number];
    const std::uint32_t channel = hits_.channel[number];
    std::uint32_t mark = source < n_sources_ ? groups_[source][channel] : 0;
    for (const std::size_t i : plan_.ranges_) {
      const auto& what = plan_.counted_[i];
      const std::uint64_t place = what.kind == Quantity::Kind::channel ? channel : source;
      mark |= static_cast<std::uint32_t>(place - what.low <= what.high - what.low) << i;
    }
    return mark;
  }
  /// Adds the hits from `at` up to the tick `last`; returns the one behind them. `kSums`: n_sums_ where it is known
  /// when this is compiled, else 0: few counts are then kept in a register.
  template <std::size_t kSums>
  std::uint32_t extend(std::uint32_t at, std::uint64_t last) {
    const auto keys = hits_.keys;
    Lanes one = kSums == kLanes ? lanes_at(sums_of(at)) : Lanes{};
    for (; at < keys.size() && tick_of(keys[at]) <= last; ++at) {
      if constexpr (kSums == kLanes) {
        add_step(one, mark(number_of(keys[at])));
        std::ranges::copy(one, sums_ + (at + std::size_t{1}) * kLanes);
      } else if (n_sums_ != 0) {
        count(sums_of(at), mark(number_of(keys[at])));
      }
    }
    return at;
  }
  /// Sums behind those given, with 1 more where the bit is set.
  void count(std::uint32_t* sums, std::uint32_t mark) const {
    for (std::size_t i = 0; i < n_sums_; i += kLanes) {
      Lanes next = lanes_at(sums + i);
      add_step(next, mark >> i);
      std::ranges::copy(next, sums + n_sums_ + i);
    }
  }
  static void add_step(Lanes& sums, std::uint32_t mark) {
    const Lanes& step = kSteps[mark & (kSteps.size() - 1)];
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += step[lane];
  }
  static Lanes lanes_at(const std::uint32_t* from) {
    Lanes out;
    std::copy_n(from, kLanes, out.begin());
    return out;
  }
  [[nodiscard]] std::uint32_t* sums_of(std::uint32_t at) const { return sums_ + at * n_sums_; }
  void add_distinct(std::uint32_t number);
  void remove_distinct(std::uint32_t number);
  [[nodiscard]] std::uint64_t causal(const Quantity& quantity) const;

  const WindowPlan& plan_;
  const SortedHits& hits_;
  /// n_sums_ for each hit of the window and for the one behind it: how many of the hits before it each count has,
  /// modulo 2^32 and from any start.
  std::uint32_t* sums_;
  std::size_t n_sums_;
  std::vector<ChannelTable<std::uint32_t>::OfSource> groups_;  ///< by source
  std::vector<Check> checks_;                                  ///< by number of the term
  std::size_t n_sources_ = 0;
  std::uint32_t first_ = 0;
  std::uint32_t end_ = 0;
  std::uint32_t n_hits_ = 0;
  bool counts_distinct_;
  std::array<std::uint32_t, WindowPlan::kMaxCounts> counts_{};
  Distinct systems_;  ///< without hits when not asked for
  Distinct sources_;
};

}  // namespace eventloom
