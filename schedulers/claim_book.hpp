#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "formats/ids.hpp"

namespace eventloom {

/// Records which builder claimed which slice, in slice order. Drops the oldest entries.
class ClaimBook {
 public:
  /// `keep`: number of entries kept; must cover all entries still queried.
  ClaimBook(SliceId first, std::uint64_t keep) : end_(first), keep_(keep) {}

  /// Gives the next slice, end(), to `builder`.
  void append(BuilderId builder);
  /// Skips the unclaimed slices before `slice`, which are finished or empty.
  void skip_to(SliceId slice);
  /// One past the last slice claimed or skipped.
  [[nodiscard]] SliceId end() const { return end_; }
  /// The builder that claimed last; std::nullopt before the first claim.
  [[nodiscard]] std::optional<BuilderId> last() const {
    return order_.empty() ? std::nullopt : std::optional(order_.back());
  }
  /// First slice at or after `from` that `builder` claimed, if known.
  [[nodiscard]] std::optional<SliceId> next_slice(BuilderId builder, SliceId from) const;

 private:
  /// The last slices of a builder.
  struct Slices {
    std::deque<SliceId> last;
    mutable std::size_t asked = 0;  ///< index of the previous answer, from which the next search continues
  };

  std::vector<Slices> builders_;
  std::deque<BuilderId> order_;  ///< claimants, in slice order
  SliceId end_;
  std::uint64_t keep_;
};

}  // namespace eventloom
