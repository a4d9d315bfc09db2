#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "formats/ids.hpp"

namespace eventloom {

/// Which builder claimed which slice, in the order of the slices. Forgets the oldest entries.
class ClaimBook {
 public:
  /// `keep`: entries that are remembered, at least as many as anybody still asks for.
  ClaimBook(SliceId first, std::uint64_t keep) : end_(first), keep_(keep) {}

  /// The next slice, end(), goes to `builder`.
  void append(BuilderId builder);
  /// Nobody gets the slices before `slice` that are not claimed: they are finished, or there is nothing in them.
  void skip_to(SliceId slice);
  /// One past the last slice that is claimed or skipped.
  [[nodiscard]] SliceId end() const { return end_; }
  /// Who claimed last; nothing before the first.
  [[nodiscard]] std::optional<BuilderId> last() const {
    return order_.empty() ? std::nullopt : std::optional(order_.back());
  }
  /// First slice at or after `from` that `builder` claimed, if it is known.
  [[nodiscard]] std::optional<SliceId> next_slice(BuilderId builder, SliceId from) const;

 private:
  /// The last slices of a builder.
  struct Slices {
    std::deque<SliceId> last;
    mutable std::size_t asked = 0;  ///< index of the answer before: who asks goes on from there
  };

  std::vector<Slices> builders_;
  std::deque<BuilderId> order_;  ///< who claimed them, one after the other
  SliceId end_;
  std::uint64_t keep_;
};

}  // namespace eventloom
