#include "formats/slice_set.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

namespace eventloom {

namespace {

using Words = std::span<std::uint64_t>;

constexpr std::uint64_t kFull = ~std::uint64_t{0};
constexpr std::uint64_t kWordBits = 64;
/// Finished slices are gone through in windows of this size, which fit a cache.
constexpr std::uint64_t kWindowWords = std::uint64_t{1} << 16;

[[noreturn]] void refuse_twice(std::uint64_t slice) {
  throw std::invalid_argument("slice " + std::to_string(slice) + " is in two runs");
}

/// One past the last slice of a run that is not empty.
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

void expect_span(std::uint64_t span, std::uint64_t limit) {
  if (span > limit) {
    throw std::invalid_argument("finished slices spread over " + std::to_string(span) + " slices; at most " +
                                std::to_string(limit) + " are possible");
  }
}

void mark_bit(Words words, std::uint64_t base, std::uint64_t at) {
  auto& word = words[at / kWordBits];
  const auto bit = std::uint64_t{1} << at % kWordBits;
  if ((word & bit) != 0) refuse_twice(base + at);
  word |= bit;
}

void mark_stretch(Words words, std::uint64_t base, std::uint64_t at, std::uint64_t n) {
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

/// Marks the slices of `run` that lie in `words`, which begin with slice `base`; leaves the others in `run`.
void mark(SliceRun& run, std::uint64_t base, Words words) {
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

/// Runs in the order of their slices, as windows that move up take them.
class RunsInTurn {
 public:
  RunsInTurn(std::uint64_t begin, std::span<const SliceRun> runs) : end_(begin) {
    for (auto run : runs) {
      if (run.count == 0) continue;
      end_ = std::max(end_, end_of(run, begin));
      if (run.count == 1) run.step = 1;
      waiting_.push_back(run);
    }
    std::ranges::sort(waiting_, std::greater<>(), &SliceRun::first);
  }

  /// One past the last slice of all runs.
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] bool done() const { return waiting_.empty() && begun_.empty(); }

  /// Marks what lies in `words`, which begin with slice `base`; nothing may lie before it.
  void mark_all(std::uint64_t base, Words words) {
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
  std::vector<SliceRun> waiting_;  ///< the first comes last
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

SliceSet::SliceSet(SliceId begin, std::span<const SliceRun> runs)
    : frontier_(begin), end_(begin), base_(begin.value / kWordBits * kWordBits) {
  RunsInTurn turn(begin.value, runs);
  expect_span(turn.end() - begin.value, kMaxSliceSpan);
  const auto words = [&] { return (turn.end() - base_ + kWordBits - 1) / kWordBits; };
  bits_.resize(std::min(words(), kWindowWords));
  if (begin.value != base_ && !bits_.empty()) bits_[0] = (std::uint64_t{1} << (begin.value - base_)) - 1;
  turn.mark_all(base_, bits_);
  while (!turn.done() && std::ranges::all_of(bits_, [](auto word) { return word == kFull; })) {
    base_ += bits_.size() * kWordBits;
    bits_.assign(std::min(words(), kWindowWords), 0);
    turn.mark_all(base_, bits_);
  }
  if (!turn.done()) {
    expect_span(turn.end() - base_, kMaxSliceSpanBeyond);
    bits_.resize(words());
    turn.mark_all(base_, bits_);
  }
  end_.value = turn.end();
  trim();
}

/// From the bits: where the frontier is and what lies beyond. Gives back what lies before.
void SliceSet::trim() {
  const auto open = std::ranges::find_if(bits_, [](auto word) { return word != kFull; });
  if (open == bits_.end()) {
    frontier_ = end_;
  } else {
    base_ += static_cast<std::uint64_t>(open - bits_.begin()) * kWordBits;
    frontier_.value = base_ + static_cast<unsigned>(std::countr_one(*open));
    size_beyond_ = base_ - frontier_.value;  // minus the bits of the word that lie before the frontier
    for (auto word = open; word != bits_.end(); ++word) size_beyond_ += static_cast<unsigned>(std::popcount(*word));
    bits_.erase(bits_.begin(), open);
  }
  if (size_beyond_ == 0) {
    base_ = 0;
    bits_.clear();
  }
  bits_.shrink_to_fit();
}

bool SliceSet::contains(SliceId slice) const {
  if (slice < frontier_) return true;
  if (slice >= end_) return false;
  const auto at = slice.value - base_;
  return ((bits_[at / kWordBits] >> at % kWordBits) & 1U) != 0;
}

SliceId SliceSet::next_missing(SliceId from) const {
  if (from < frontier_) return frontier_;
  if (from >= end_) return from;
  const auto at = from.value - base_;
  auto word = at / kWordBits;
  auto missing = ~bits_[word] & (kFull << at % kWordBits);
  while (missing == 0 && ++word < bits_.size()) missing = ~bits_[word];
  return missing == 0 ? end_ : SliceId{base_ + word * kWordBits + static_cast<unsigned>(std::countr_zero(missing))};
}

std::vector<SliceRun> SliceSet::beyond() const {
  SliceRuns runs;
  for (std::size_t w = 0; w < bits_.size(); ++w) {
    auto left = bits_[w];
    if (w == 0) left &= kFull << (frontier_.value - base_);
    for (; left != 0; left &= left - 1) {
      runs.add(SliceId{base_ + w * kWordBits + static_cast<unsigned>(std::countr_zero(left))});
    }
  }
  return runs.runs();
}

}  // namespace eventloom
