#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "formats/event.hpp"
#include "formats/geometry.hpp"

namespace eventloom {

/// The losses of a live stream that the run has not built yet, in ascending first epochs: at most kMostDamage records,
/// and few more.
class HeldLosses {
 public:
  /// Adds a loss to an earlier record of the same cause that begins at `closed` or later, if they touch or no data in
  /// between are used; otherwise as a record of its own. `used_end`: one past the last epoch of data used.
  void add(const Damage& damage, Epoch closed, Epoch used_end);
  /// A loss without a known end, after the end of the stream.
  void set_tail(const Damage& damage) { tail_ = damage; }
  /// Drops everything but the tail.
  void clear();

  [[nodiscard]] const std::deque<Damage>& records() const { return records_; }
  [[nodiscard]] const std::optional<Damage>& tail() const { return tail_; }
  /// One past the last lost epoch.
  [[nodiscard]] Epoch end() const { return end_; }

  /// Appends the losses that overlap `epochs`.
  void collect(EpochRange epochs, std::vector<Damage>& out) const;
  /// First epoch at or after `from` in which a loss begins.
  [[nodiscard]] std::optional<Epoch> next_beginning(Epoch from) const;
  void release_before(Epoch epoch);
  [[nodiscard]] std::uint64_t hits_from(Epoch epoch) const;
  /// Hands over the losses that begin at `epoch` or later.
  std::vector<Damage> take_from(Epoch epoch);

 private:
  [[nodiscard]] std::deque<Damage>::const_iterator first_from(Epoch epoch) const;
  bool merge(const Damage& damage, Epoch closed, Epoch used_end);

  std::deque<Damage> records_;
  std::optional<Damage> tail_;
  Epoch end_ = 0;
};

}  // namespace eventloom
