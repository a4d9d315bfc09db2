#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "core/definitions/event_definition.hpp"
#include "core/definitions/expression.hpp"
#include "core/definitions/selected_windows.hpp"
#include "core/detector/channel_table.hpp"
#include "core/detector/detector.hpp"

namespace eventloom {

/// How to measure a condition on windows. Immutable, and shared by threads.
class WindowPlan {
 public:
  static constexpr std::size_t kMaxCounts = 32;

  /// Throws std::invalid_argument if the condition counts more than kMaxCounts different kinds of hits.
  WindowPlan(Expression condition, DetectorPtr detector);

  [[nodiscard]] const Expression& condition() const { return condition_; }
  /// The condition does not hold in windows with fewer hits; at least 1.
  [[nodiscard]] std::uint64_t min_hits() const { return min_hits_; }

 private:
  friend class WindowCounts;

  /// Number of terms whose combinations fit into the bits of truth_.
  static constexpr std::size_t kMaxTabled = 6;

  void count_quantities();
  void make_truth();

  Expression condition_;
  DetectorPtr detector_;
  std::vector<Quantity> counted_;       ///< distinct channels, sources and groups to count
  std::vector<std::size_t> counts_;     ///< indexed by term: its place in counted_, if it is one of those
  ChannelTable<std::uint32_t> groups_;  ///< bit i: the channel is in the group counted_[i]
  ChannelTable<GroupSet> memberships_;  ///< empty unless the condition selects hits
  std::vector<std::size_t> ranges_;     ///< indices in counted_ that are not groups
  std::uint64_t min_hits_ = 1;
  /// Bit i: whether the condition holds if the values of exactly those terms whose bits are set in i lie in their
  /// spans.
  std::optional<std::uint64_t> truth_;
};

/// Values of a condition's quantities in a window that moves over sorted hits. All except the causal set and those of
/// selected hits are updated incrementally, so that a hit costs the same in windows of any length.
class WindowCounts {
 public:
  /// Size of `sums` for n hits.
  static std::size_t room(const WindowPlan& plan, std::size_t n) { return (n + 1) * words(plan) * kInWord; }

  /// `sums`: uninitialised room. All arguments must outlive this object.
  WindowCounts(const WindowPlan& plan, const SortedHits& hits, std::uint32_t* sums);
  WindowCounts(const WindowCounts&) = delete;  // its checks refer to its counts
  WindowCounts& operator=(const WindowCounts&) = delete;

  /// Few counts, and no other quantities: accepts() is then branch-free, since branches on real data are unpredictable.
  [[nodiscard]] bool plain() const { return n_words_ == 1 && !counts_distinct_ && plan_.truth_; }

  /// Whether the condition holds for the hits from `first` up to the tick `last`, which must be at least the plan's
  /// min_hits(). Neither argument may decrease. `kPlain`: plain(), as a compile-time constant.
  template <bool kPlain>
  bool accepts(std::uint32_t first, Tick last) {
    const std::uint32_t end = end_of(std::max(first + least_, end_), last);
    if (!kPlain && counts_distinct_) move_distinct(first, end);
    if (!kPlain && selected_) selected_->move(tick_of(hits_.keys[first]), last);
    first_ = first;
    end_ = end;
    n_hits_ = end - first;
    const std::size_t words = kPlain ? 1 : n_words_;
    for (std::size_t word = 0; word < words; ++word) {
      const auto sum_at = [&](std::size_t hit) { return word_at(sums_ + (hit * words + word) * kInWord); };
      const std::uint64_t counts = sum_at(end) - sum_at(first);
      counts_[kInWord * word] = static_cast<std::uint32_t>(counts);
      counts_[kInWord * word + 1] = static_cast<std::uint32_t>(counts >> 32);
    }
    return kPlain || plan_.truth_ ? holds_by_table() : holds();
  }

  /// One past the last hit of the latest window.
  [[nodiscard]] std::uint32_t end() const { return end_; }

 private:
  /// Counts are added in pairs: the low and the high half of a word. Sums may overflow, differences of them may not.
  static constexpr std::size_t kInWord = 2;
  static std::size_t words(const WindowPlan& plan) { return (plan.counted_.size() + kInWord - 1) / kInWord; }
  static std::uint64_t step_of(std::uint32_t mark) { return (mark & 1U) | std::uint64_t{mark & 2U} << 31; }
  static std::uint64_t word_at(const std::uint32_t* from) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, sizeof word);
    return word;
  }
  static void put_word(std::uint32_t* to, std::uint64_t word) { std::memcpy(to, &word, sizeof word); }

  /// A term of the condition.
  struct Check {
    const Term* term;
    const std::uint32_t* value;  ///< null for the causal set and for selected hits, which are computed on demand
    std::uint64_t least;
    std::uint64_t span;
    [[nodiscard]] bool in_span() const { return *value - least <= span; }
  };
  /// Counts hits by the value of one of their properties.
  struct Distinct {
    std::vector<std::uint32_t> hits;
    std::uint32_t values = 0;  ///< values that have hits
    void add(std::size_t value) { values += hits[value]++ == 0 ? 1 : 0; }
    void remove(std::size_t value) { values -= --hits[value] == 0 ? 1 : 0; }
  };

  [[nodiscard]] Check check_of(std::size_t term) const;
  [[nodiscard]] bool holds_by_table() const {
    unsigned in_span = 0;
    for (std::size_t i = 0; i < checks_.size(); ++i) in_span |= static_cast<unsigned>(checks_[i].in_span()) << i;
    return (*plan_.truth_ >> in_span & 1U) != 0;
  }
  [[nodiscard]] bool holds() const;
  /// Bit i: whether count i, which is one of a group, includes the hit.
  [[nodiscard]] std::uint32_t group_mark(std::uint32_t number) const {
    const std::uint16_t source = hits_.source[number];
    return source < n_sources_ ? groups_[source][hits_.channel[number]] : 0;
  }
  /// The same for all counts.
  [[nodiscard]] std::uint32_t mark(std::uint32_t number) const {
    const std::uint16_t source = hits_.source[number];
    const std::uint32_t channel = hits_.channel[number];
    std::uint32_t mark = group_mark(number);
    for (const std::size_t i : plan_.ranges_) {
      const auto& what = plan_.counted_[i];
      const std::uint64_t place = what.kind == Quantity::Kind::channel ? channel : source;
      mark |= static_cast<std::uint32_t>(place - what.low <= what.high - what.low) << i;
    }
    return mark;
  }
  /// The first hit at or after `from` that lies after the tick `last`. Windows differ by a few, unpredictable hits, so
  /// these are examined without branches.
  [[nodiscard]] std::uint32_t end_of(std::uint32_t from, Tick last) const {
    constexpr std::uint32_t kStep = 4;
    const auto keys = hits_.keys;
    std::uint32_t end = from;
    while (keys.size() - end >= kStep) {
      std::uint32_t within = 0;
      for (std::uint32_t i = 0; i < kStep; ++i) within += static_cast<std::uint32_t>(tick_of(keys[end + i]) <= last);
      end += within;
      if (within != kStep) return end;
    }
    while (end < keys.size() && tick_of(keys[end]) <= last) ++end;
    return end;
  }
  void sum_up_all();
  /// Used if the counts fit into a word. `step_of_hit(number)`: the contribution of a hit.
  template <class StepOf>
  void sum_up(StepOf step_of_hit);
  void sum_up_words();
  void move_distinct(std::uint32_t first, std::uint32_t end);
  [[nodiscard]] std::uint64_t causal(const Quantity& quantity) const;
  [[nodiscard]] bool holds_on_demand(std::size_t term) const;

  const WindowPlan& plan_;
  const SortedHits& hits_;
  /// n_words_ words for each hit and for the end: how many of the preceding hits each count includes.
  std::uint32_t* sums_;
  std::size_t n_words_;
  std::uint32_t least_;                                        ///< minimum hits of a window
  std::vector<ChannelTable<std::uint32_t>::OfSource> groups_;  ///< indexed by source
  std::vector<Check> checks_;                                  ///< indexed by term
  std::size_t n_sources_ = 0;
  std::uint32_t first_ = 0;
  std::uint32_t end_ = 0;
  std::uint32_t n_hits_ = 0;
  bool counts_distinct_;
  std::array<std::uint32_t, WindowPlan::kMaxCounts> counts_{};
  Distinct systems_;  ///< unused if the condition has no such term
  Distinct sources_;
  std::optional<SelectedWindows> selected_;  ///< if the condition selects hits
};

}  // namespace eventloom
