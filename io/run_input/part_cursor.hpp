#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "io/run_format/part_info.hpp"

namespace eventloom {

/// Splits the parts into as few chains with ascending slices as possible: as many as there are overlapping parts. Parts
/// without slices are omitted.
std::vector<std::vector<PartInfo>> chains_of(std::span<const PartInfo> parts);

/// Reads the parts of a run as one table whose rows have ascending keys, such as times. One part of each chain is open
/// at a time. `Reader::done()` returns whether its part has no more rows, `Reader::key()` the key of its next row.
template <class Reader>
class PartCursor {
 public:
  using Key = decltype(std::declval<Reader&>().key());
  /// `chains`: number of chains.
  using Open = std::function<std::unique_ptr<Reader>(const PartInfo& part, std::size_t chains)>;

  PartCursor(std::span<const PartInfo> parts, Open open) : open_(std::move(open)) {
    for (auto& chain : chains_of(parts)) chains_.push_back({std::move(chain), 0, {}});
    for (std::size_t i = 0; i < chains_.size(); ++i) advance(i);
  }

  /// Returns the part with the next row, or null at the end. Read at least this row before the next call.
  Reader* next() {
    if (at_) advance(*at_);
    at_.reset();
    if (heads_.empty()) return nullptr;
    at_ = heads_.top().second;
    heads_.pop();
    return chains_[*at_].reader.get();
  }

  /// The lowest key of the next rows of all other parts: rows of the current part below it may be read, too.
  [[nodiscard]] Key limit() const { return heads_.empty() ? std::numeric_limits<Key>::max() : heads_.top().first; }

 private:
  struct Chain {
    std::vector<PartInfo> parts;
    std::size_t opened = 0;
    std::unique_ptr<Reader> reader;
  };
  using Head = std::pair<Key, std::size_t>;  // key of the next row of a chain, number of the chain

  void advance(std::size_t number) {
    auto& chain = chains_[number];
    while (!chain.reader || chain.reader->done()) {
      chain.reader.reset();
      if (chain.opened == chain.parts.size()) return;
      chain.reader = open_(chain.parts[chain.opened++], chains_.size());
    }
    heads_.emplace(chain.reader->key(), number);
  }

  Open open_;
  std::vector<Chain> chains_;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
  std::optional<std::size_t> at_;  ///< chain of the current part
};

}  // namespace eventloom
