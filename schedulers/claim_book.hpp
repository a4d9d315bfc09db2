#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>

#include "formats/ids.hpp"

namespace eventloom {

/// Stands for no builder: the slice is finished already.
inline constexpr BuilderId kNobody{std::numeric_limits<std::uint32_t>::max()};

/// Which builder claimed which slice, in the order of the slices. Forgets the oldest entries.
class ClaimBook {
 public:
  /// `keep`: entries that are remembered, at least as many as anybody still asks for.
  ClaimBook(SliceId first, std::uint64_t keep) : end_(first), keep_(keep) {}

  /// The next slice, end(), goes to `builder`, or to kNobody.
  void append(BuilderId builder);
  /// One past the last slice that is claimed.
  [[nodiscard]] SliceId end() const { return end_; }
  /// Who claimed last; nothing before the first.
  [[nodiscard]] std::optional<BuilderId> last() const { return last_; }
  /// First slice at or after `from` that `builder` claimed, if it is known.
  [[nodiscard]] std::optional<SliceId> next_slice(BuilderId builder, SliceId from) const;

 private:
  std::deque<BuilderId> builders_;  ///< of the last slices before end_
  std::optional<BuilderId> last_;
  SliceId end_;
  std::uint64_t keep_;
};

}  // namespace eventloom
