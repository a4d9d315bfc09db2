#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace eventloom {

/// Rows [begin, end) of a dataset.
struct RowRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  friend bool operator==(const RowRange&, const RowRange&) = default;
};

/// Rows of a dataset: ascending ranges with rows between them.
class RowRanges {
 public:
  RowRanges() = default;
  /// `ranges`: in any order, may overlap or be empty.
  explicit RowRanges(std::vector<RowRange> ranges) {
    std::ranges::sort(ranges, {}, &RowRange::begin);
    for (const auto& range : ranges) {
      if (range.begin >= range.end) continue;
      if (!ranges_.empty() && range.begin <= ranges_.back().end) {
        ranges_.back().end = std::max(ranges_.back().end, range.end);
      } else {
        ranges_.push_back(range);
      }
    }
  }

  [[nodiscard]] bool any() const { return !ranges_.empty(); }
  [[nodiscard]] const std::vector<RowRange>& list() const { return ranges_; }
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t rows = 0;
    for (const auto& range : ranges_) rows += range.end - range.begin;
    return rows;
  }
  /// The rows that these leave out of the first `rows`.
  [[nodiscard]] RowRanges others(std::uint64_t rows) const {
    std::vector<RowRange> gaps;
    std::uint64_t begin = 0;
    for (const auto& range : ranges_) {
      gaps.push_back({begin, std::min(range.begin, rows)});
      begin = range.end;
    }
    gaps.push_back({begin, rows});
    return RowRanges(std::move(gaps));
  }
  /// Sets marks[i] for each of the rows `from` + i.
  void mark(std::uint64_t from, std::vector<bool>& marks) const {
    const std::uint64_t to = from + marks.size();
    auto range = std::ranges::upper_bound(ranges_, from, {}, &RowRange::end);
    for (; range != ranges_.end() && range->begin < to; ++range) {
      for (auto row = std::max(range->begin, from); row < std::min(range->end, to); ++row) {
        marks[static_cast<std::size_t>(row - from)] = true;
      }
    }
  }

 private:
  std::vector<RowRange> ranges_;
};

}  // namespace eventloom
