#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

  Expression condition_;
  DetectorPtr detector_;
  ChannelTable<GroupSet> groups_;
  std::vector<Quantity> counted_;    ///< channels, sources and groups to count, different ones
  std::vector<std::size_t> counts_;  ///< by number of the term: its place in counted_, where it is one of those
  std::uint64_t min_hits_ = 1;
};

/// What a window that moves over sorted hits has of the quantities of a condition. All but the causal set are kept up
/// to date, so that a hit costs the same in windows of any length.
class WindowCounts {
 public:
  /// `marks`: room for a number per key. All arguments must outlive it.
  WindowCounts(const WindowPlan& plan, const SortedHits& hits, std::uint32_t* marks);
  WindowCounts(const WindowCounts&) = delete;  // its checks refer to its counts
  WindowCounts& operator=(const WindowCounts&) = delete;

  /// The window becomes the hits from `first` up to the tick `last`. Neither may fall.
  void move(std::uint32_t first, std::uint64_t last);
  /// Whether the condition holds.
  [[nodiscard]] bool accepted() const {
    return plan_.condition_.holds([this](std::size_t term) { return holds(checks_[term]); });
  }

 private:
  /// A term of the condition.
  struct Check {
    const Term* term;
    const std::uint64_t* value;  ///< null for the causal set, which is made when it is asked for
  };
  /// Hits by value of one of their properties.
  struct Distinct {
    std::vector<std::uint32_t> hits;
    std::uint64_t values = 0;  ///< that have hits
    void add(std::size_t value) { values += hits[value]++ == 0 ? 1 : 0; }
    void remove(std::size_t value) { values -= --hits[value] == 0 ? 1 : 0; }
  };

  [[nodiscard]] Check check_of(std::size_t term) const;
  [[nodiscard]] bool holds(const Check& check) const {
    return check.term->holds(check.value != nullptr ? *check.value : causal(check.term->quantity));
  }
  [[nodiscard]] std::uint32_t mark(std::uint32_t number) const;
  void add(std::uint32_t at);
  void remove(std::uint32_t at);
  [[nodiscard]] std::uint64_t causal(const Quantity& quantity) const;

  const WindowPlan& plan_;
  const SortedHits& hits_;
  std::uint32_t* marks_;  ///< of the hits in the window, by place: bit i counts for counted_[i]
  std::vector<ChannelTable<GroupSet>::OfSource> groups_;  ///< by source
  std::vector<Check> checks_;                             ///< by number of the term
  std::size_t n_counts_;
  std::uint32_t first_ = 0;
  std::uint32_t end_ = 0;
  std::uint64_t n_hits_ = 0;
  std::array<std::uint64_t, WindowPlan::kMaxCounts> counts_{};
  Distinct systems_;  ///< without hits when not asked for
  Distinct sources_;
};

}  // namespace eventloom
