#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "core/dataflow/selector.hpp"
#include "core/exchange/outbox.hpp"
#include "formats/built_slice_wire.hpp"
#include "formats/event.hpp"
#include "formats/slice_range.hpp"

namespace eventloom {

/// Where a builder's slices go: to its own selector, or to the filters.
class SliceOutput {
 public:
  virtual ~SliceOutput() = default;
  /// Whether put() may be called for this slice now.
  [[nodiscard]] virtual bool accepts(SliceId slice) = 0;
  /// Slices come in rising order. Takes the contents of `slice`, and may leave the memory of an
  /// earlier one in it for the next use.
  virtual void put(BuiltSlice& slice) = 0;
  /// There is nothing to be put of the slices of `gap`, whichever builder has them. May come
  /// before lower slices, which are still being built.
  virtual void pass(SliceRange gap) = 0;
  /// After the last slice; `data_end` is one past it.
  virtual void end(SliceId data_end) = 0;
  virtual std::size_t do_work() = 0;
  [[nodiscard]] virtual bool done() const = 0;
  virtual void flush() = 0;
};

/// Builder and filter in one: selects and writes at once.
class LocalOutput final : public SliceOutput {
 public:
  explicit LocalOutput(Selector selector) : selector_(std::move(selector)) {}
  [[nodiscard]] bool accepts(SliceId) override { return true; }
  void put(BuiltSlice& slice) override { selector_.take(slice); }
  void pass(SliceRange) override {}
  void end(SliceId) override { ended_ = true; }
  std::size_t do_work() override { return 0; }
  [[nodiscard]] bool done() const override { return ended_; }
  void flush() override {}

 private:
  Selector selector_;
  bool ended_ = false;
};

/// Sends slice n to filter n mod F, through one outbox per filter.
class FilterOutput final : public SliceOutput {
 public:
  explicit FilterOutput(std::vector<Outbox> outboxes);
  [[nodiscard]] bool accepts(SliceId slice) override;
  void put(BuiltSlice& slice) override;
  void pass(SliceRange gap) override;
  void end(SliceId data_end) override;
  std::size_t do_work() override;
  [[nodiscard]] bool done() const override;
  void flush() override;

 private:
  /// A filter, and the slice on its way there, which its outbox reads in place.
  struct Lane {
    Outbox outbox;
    BuiltSlice slice;
    BuiltSliceHead head;
    std::deque<SliceRange> gaps;  ///< that the filter is to be told of
    SliceRange last_gap;          ///< of those, and of those that it has been told of
    bool told_end = false;
  };
  std::size_t tell(Lane& lane);
  Lane& lane_of(SliceId slice) { return lanes_[slice.value % lanes_.size()]; }

  std::vector<Lane> lanes_;
  bool ending_ = false;
  SliceId data_end_;
};

}  // namespace eventloom
