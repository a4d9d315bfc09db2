#include "formats/slice_set.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

namespace eventloom {

namespace {

using Bitmap = std::span<std::uint64_t>;

constexpr std::uint64_t kFull = ~std::uint64_t{0};
constexpr std::uint64_t kWordBits = 64;
/// Finished slices are processed in stretches of this size, which fit in a cache.
constexpr std::uint64_t kStretchWords = std::uint64_t{1} << 10;
/// Upper limit of the words in a SliceSet: 0.8 GB.
constexpr std::size_t kMostWords = std::size_t{1} << 25;

[[noreturn]] void refuse_twice(std::uint64_t slice) {
  throw std::invalid_argument("slice " + std::to_string(slice) + " is in two runs");
}

/// One past the last slice of a non-empty run.
std::uint64_t end_of(const SliceRun& run, std::uint64_t begin) {
  if (run.first < begin) {
    throw std::invalid_argument("a run begins at slice " + std::to_string(run.first) + ", before slice " +
                                std::to_string(begin));
  }
  if (run.count > 1 && run.step == 0) refuse_twice(run.first);
  const auto room = std::numeric_limits<std::uint64_t>::max() - 1;
  if (run.first > room || (run.count > 1 && (run.count - 1) > (room - run.first) / run.step)) {
    throw std::invalid_argument("a run of " + std::to_string(run.count) + " slices from " + std::to_string(run.first) +
                                " in steps of " + std::to_string(run.step) + " goes past 64 bits");
  }
  return run.first + run.step * (run.count - 1) + 1;
}

void mark_bit(Bitmap words, std::uint64_t base, std::uint64_t at) {
  auto& word = words[at / kWordBits];
  const auto bit = std::uint64_t{1} << at % kWordBits;
  if ((word & bit) != 0) refuse_twice(base + at);
  word |= bit;
}

void mark_stretch(Bitmap words, std::uint64_t base, std::uint64_t at, std::uint64_t n) {
  while (n > 0) {
    const auto bit = at % kWordBits;
    const auto here = std::min(n, kWordBits - bit);
    const auto mask = (kFull >> (kWordBits - here)) << bit;
    auto& word = words[at / kWordBits];
    if ((word & mask) != 0) refuse_twice(base + at - bit + static_cast<unsigned>(std::countr_zero(word & mask)));
    word |= mask;
    at += here;
    n -= here;
  }
}

/// Marks the slices of `run` that lie in `words`, whose first bit is slice `base`. Leaves the others in `run`.
void mark(SliceRun& run, std::uint64_t base, Bitmap words) {
  const auto at = run.first - base;
  const auto n = std::min(run.count, (words.size() * kWordBits - 1 - at) / run.step + 1);
  if (run.step == 1) {
    mark_stretch(words, base, at, n);
  } else {
    for (std::uint64_t i = 0; i < n; ++i) mark_bit(words, base, at + i * run.step);
  }
  run.count -= n;
  if (run.count > 0) run.first += n * run.step;
}

/// Processes runs in the order of their slices, stretch by stretch.
class RunsInTurn {
 public:
  RunsInTurn(std::uint64_t begin, std::span<const SliceRun> runs) : end_(begin) {
    std::uint64_t slices = 0;
    for (auto run : runs) {
      if (run.count == 0) continue;
      if (run.count > kMaxSlices || (slices += run.count) > kMaxSlices) {
        throw std::invalid_argument("more than " + std::to_string(kMaxSlices) + " slices are finished");
      }
      end_ = std::max(end_, end_of(run, begin));
      if (run.count == 1) run.step = 1;
      waiting_.push_back(run);
    }
    std::ranges::sort(waiting_, std::greater<>(), &SliceRun::first);
  }

  /// One past the last slice of all runs.
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] bool done() const { return waiting_.empty() && begun_.empty(); }
  /// The first slice not yet marked; end() if there is none.
  [[nodiscard]] std::uint64_t next() const {
    std::uint64_t first = waiting_.empty() ? end_ : waiting_.back().first;
    for (const auto& run : begun_) first = std::min(first, run.first);
    return first;
  }

  /// Marks the slices in `words`, whose first bit is slice `base`. No unmarked slice may lie before it.
  void mark_all(std::uint64_t base, Bitmap words) {
    while (!waiting_.empty() && waiting_.back().first - base < words.size() * kWordBits) {
      begun_.push_back(waiting_.back());
      waiting_.pop_back();
    }
    for (auto& run : begun_) {
      if (run.first - base < words.size() * kWordBits) mark(run, base, words);
    }
    std::erase_if(begun_, [](const SliceRun& run) { return run.count == 0; });
  }

 private:
  std::vector<SliceRun> waiting_;  ///< sorted by first slice, descending
  std::vector<SliceRun> begun_;
  std::uint64_t end_;
};

}  // namespace

void SliceRuns::add(SliceId slice) {
  if (runs_.empty()) {
    runs_.push_back({slice.value, 1, 1});
    return;
  }
  auto& run = runs_.back();
  const auto last = run.first + run.step * (run.count - 1);
  if (slice.value <= last) throw std::logic_error("slices that do not rise");
  if (run.count == 1) run.step = slice.value - last;
  if (slice.value - last == run.step) {
    ++run.count;
  } else {
    runs_.push_back({slice.value, 1, 1});
  }
}

SliceSet::SliceSet(SliceId begin, std::span<const SliceRun> runs) : frontier_(begin), end_(begin) {
  RunsInTurn turn(begin.value, runs);
  std::vector<std::uint64_t> stretch;
  while (!turn.done()) {
    const std::uint64_t first = turn.next() / kWordBits;
    stretch.assign(std::min((turn.end() - 1) / kWordBits - first + 1, kStretchWords), 0);
    turn.mark_all(first * kWordBits, stretch);
    add_stretch(first, stretch);
  }
  end_.value = turn.end();
  find_frontier();
}

void SliceSet::add_stretch(std::uint64_t first, std::span<const std::uint64_t> words) {
  for (std::uint64_t w = 0; w < words.size(); ++w) {
    if (words[w] == 0) continue;
    const bool joins = words[w] == kFull && !words_.empty() && words_.back().bits == kFull &&
                       words_.back().first + words_.back().n == first + w;
    if (joins) {
      ++words_.back().n;
    } else {
      words_.push_back({first + w, 1, words[w]});
    }
  }
  if (words_.size() > kMostWords) throw std::invalid_argument("finished slices lie in too many stretches");
}

/// Finds the frontier and frees the memory of the words before it.
void SliceSet::find_frontier() {
  frontier_ = next_missing(frontier_);
  auto beyond = words_.begin();
  while (beyond != words_.end() && (beyond->first + beyond->n) * kWordBits <= frontier_.value) ++beyond;
  if (beyond != words_.end() && beyond->first == frontier_.value / kWordBits) {
    beyond->bits &= kFull << frontier_.value % kWordBits;
    if (beyond->bits == 0) ++beyond;
  }
  words_.erase(words_.begin(), beyond);
  words_.shrink_to_fit();
  for (const auto& words : words_) size_beyond_ += words.n * static_cast<unsigned>(std::popcount(words.bits));
}

/// The entry that contains word number `word`, or the next one.
std::vector<SliceSet::Bitmap>::const_iterator SliceSet::words_from(std::uint64_t word) const {
  return std::ranges::lower_bound(words_, word, {}, [](const Bitmap& words) { return words.first + words.n - 1; });
}

bool SliceSet::contains(SliceId slice) const {
  if (slice < frontier_) return true;
  const auto words = words_from(slice.value / kWordBits);
  return words != words_.end() && words->first <= slice.value / kWordBits &&
         ((words->bits >> slice.value % kWordBits) & 1U) != 0;
}

SliceId SliceSet::next_missing(SliceId from) const {
  from = std::max(from, frontier_);
  std::uint64_t word = from.value / kWordBits;
  auto missing = kFull << from.value % kWordBits;  // slices of `word` not yet known to be in the set
  for (auto words = words_from(word); words != words_.end() && words->first <= word; ++words) {
    missing &= ~words->bits;
    if (missing != 0) break;
    word = words->first + words->n;
    missing = kFull;
  }
  return {word * kWordBits + static_cast<unsigned>(std::countr_zero(missing))};
}

std::vector<SliceRun> SliceSet::beyond() const {
  SliceRuns runs;
  for (const auto& words : words_) {
    for (std::uint64_t w = words.first; w < words.first + words.n; ++w) {
      for (auto left = words.bits; left != 0; left &= left - 1) {
        runs.add(SliceId{w * kWordBits + static_cast<unsigned>(std::countr_zero(left))});
      }
    }
  }
  return runs.runs();
}

SliceSet in_both(const SliceSet& a, const SliceSet& b) {
  if (b.frontier() < a.frontier()) return in_both(b, a);
  SliceRuns both;
  for (const auto& run : a.beyond()) {
    for (std::uint64_t i = 0; i < run.count; ++i) {
      const SliceId slice{run.first + i * run.step};
      if (b.contains(slice)) both.add(slice);
    }
  }
  return {a.frontier(), both.runs()};
}

}  // namespace eventloom
