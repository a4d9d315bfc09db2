#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "core/engine/source_settings.hpp"
#include "schedulers/scheduler.hpp"

namespace eventloom {

/// The next slice of one source for each builder (kNoSlice while unknown), and the lowest of them.
class NextSlices {
 public:
  explicit NextSlices(std::size_t builders = 0) : next_(builders, kNoSlice) {}

  [[nodiscard]] std::span<const SliceId> all() const { return next_; }
  [[nodiscard]] SliceId operator[](std::size_t builder) const { return next_[builder]; }

  void set(std::size_t builder, SliceId slice) {
    if (slice < lowest_) {
      lowest_ = slice;
    } else if (next_[builder] == lowest_) {
      stale_ = true;
    }
    next_[builder] = slice;
  }

  /// Scans all builders only after the lowest has changed.
  [[nodiscard]] SliceId lowest() const {
    if (stale_) lowest_ = *std::ranges::min_element(next_);
    stale_ = false;
    return lowest_;
  }

 private:
  std::vector<SliceId> next_;  ///< indexed by builder
  mutable SliceId lowest_ = kNoSlice;
  mutable bool stale_ = false;  ///< the lowest may be higher than lowest_
};

/// The next slice that one source sends to each builder, given the builders known so far.
class SliceCursor {
 public:
  /// `scheduler` and `settings` must outlive this object.
  SliceCursor(Scheduler& scheduler, const SourceRoleSettings& settings)
      : scheduler_(scheduler),
        settings_(settings),
        next_(settings.n_builders),
        from_(settings.n_builders, settings.first_slice),
        claims_end_(settings.first_slice) {
    for (std::size_t b = 0; b < from_.size(); ++b) find(b);
  }

  /// Indexed by builder; kNoSlice while none is known.
  [[nodiscard]] std::span<const SliceId> all() const { return next_.all(); }
  [[nodiscard]] SliceId operator[](std::size_t builder) const { return next_[builder]; }
  /// The lowest slice that the source has still to send.
  [[nodiscard]] SliceId lowest() const {
    return scheduler_.claims() == nullptr ? next_.lowest() : std::min(next_.lowest(), claims_end_);
  }

  /// When builders claim their slices: finds the next slice of builders that had none.
  void learn_claims() {
    const auto* claims = scheduler_.claims();
    if (claims == nullptr || claims->end() == claims_end_) return;
    claims_end_ = claims->end();
    for (std::size_t b = 0; b < from_.size(); ++b) {
      if (next_[b] == kNoSlice) find(b);
    }
  }
  /// The source has sent all slices of `builder` before `from`.
  void advance(std::size_t builder, SliceId from) {
    from_[builder] = from;
    find(builder);
  }

 private:
  void find(std::size_t builder) {
    const BuilderId id{static_cast<std::uint32_t>(builder)};
    const bool served = settings_.serves(builder);
    next_.set(builder, served ? next_unfinished(scheduler_, settings_.finished, id, from_[builder]) : kNoSlice);
  }

  Scheduler& scheduler_;
  const SourceRoleSettings& settings_;
  NextSlices next_;
  std::vector<SliceId> from_;  ///< slice from which to search for the next, by builder
  SliceId claims_end_;         ///< claims before it are reflected in next_
};

}  // namespace eventloom
