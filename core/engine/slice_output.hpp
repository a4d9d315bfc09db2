#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "core/dataflow/selector.hpp"
#include "core/exchange/message_memory.hpp"
#include "core/exchange/outbox.hpp"
#include "formats/built_slice_wire.hpp"
#include "formats/event.hpp"
#include "formats/slice_range.hpp"

namespace eventloom {

/// The destination of a builder's slices: its own selector, or the filters.
class SliceOutput {
 public:
  virtual ~SliceOutput() = default;
  /// Whether put() may be called for `slice` now.
  [[nodiscard]] virtual bool accepts(SliceId slice) = 0;
  /// `built`: a slice with all its kinds of events. Slices must be put in ascending order. Takes the contents, and may
  /// swap in the memory of an earlier slice for reuse.
  virtual void put(std::vector<BuiltSlice>& built) = 0;
  /// The slices of `gap` are empty, whichever builder has them. May be called before lower slices that are still being
  /// built.
  virtual void pass(SliceRange gap) = 0;
  /// Call after the last slice; `data_end` is one past it.
  virtual void end(SliceId data_end) = 0;
  virtual std::size_t do_work() = 0;
  [[nodiscard]] virtual bool done() const = 0;
};

/// Builder and filter in one: selects and writes each slice immediately.
class LocalOutput final : public SliceOutput {
 public:
  explicit LocalOutput(Selector selector) : selector_(std::move(selector)) {}
  [[nodiscard]] bool accepts(SliceId) override { return true; }
  void put(std::vector<BuiltSlice>& built) override { selector_.take(built); }
  void pass(SliceRange) override {}
  void end(SliceId) override { ended_ = true; }
  std::size_t do_work() override { return 0; }
  [[nodiscard]] bool done() const override { return ended_; }

 private:
  Selector selector_;
  bool ended_ = false;
};

/// Sends slice n to filter n mod F, through one outbox per filter.
class FilterOutput final : public SliceOutput {
 public:
  explicit FilterOutput(std::vector<Outbox> outboxes);
  [[nodiscard]] bool accepts(SliceId slice) override;
  void put(std::vector<BuiltSlice>& built) override;
  void pass(SliceRange gap) override;
  void end(SliceId data_end) override;
  std::size_t do_work() override;
  [[nodiscard]] bool done() const override;

 private:
  struct Sent {
    std::vector<BuiltSlice> built;
    std::vector<BuiltSliceHead> heads;
  };
  /// The path to one filter, and the slices in flight, which the outbox reads in place.
  struct Lane {
    Outbox outbox;
    MessageMemory<Sent> memory;
    std::deque<SliceRange> gaps;  ///< not yet sent to the filter
    SliceRange last_gap;          ///< the last one queued or sent
    bool reported_end = false;
  };
  std::size_t notify(Lane& lane);
  Lane& lane_of(SliceId slice) { return lanes_[slice.value % lanes_.size()]; }

  std::vector<Lane> lanes_;
  bool ending_ = false;
  SliceId data_end_;
};

}  // namespace eventloom
