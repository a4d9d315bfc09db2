#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "core/dataflow/source.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Converts the losses of a reader to damage of its stream, with a position in time: a loss lies at the latest hit
/// before it in the file, and a hole extends to the hit after it; a hole before the first hit begins at epoch 0. If
/// times are event numbers there are no holes, since missing events show in the numbers.
class LossAccount {
 public:
  /// `joined`: reading starts within the stream, and earlier data are not a loss.
  explicit LossAccount(const StreamHeader& header, bool joined = false)
      : epoch_ticks_(header.base.epoch_ticks), numbered_((header.flags & kNumbered) != 0), joined_(joined) {}

  /// Takes the losses of the reader's next block.
  void take(const HitBlock& block);
  /// States that data before `epoch` will not be collected again. Further losses are placed at or after `epoch`.
  void close_before(Epoch epoch) { latest_ = std::max(latest_.value_or(Tick()), tick_of_epoch(epoch, epoch_ticks_)); }
  /// Counts a hit of `epoch`, taken before, as a copy.
  void drop_copy(Epoch epoch);
  /// Call after the last block. If the file breaks off, damage continues without end.
  void finish();
  /// Releases damage that ends before `epoch`.
  void release_before(Epoch epoch);

  /// Appends the damage that overlaps `epochs` to `out`. It is complete only for epochs before that of the last hit
  /// taken.
  void collect(EpochRange epochs, std::vector<Damage>& out) const;
  /// First epoch at or after `from` in which damage begins.
  [[nodiscard]] std::optional<Epoch> next_beginning(Epoch from) const;
  [[nodiscard]] std::optional<Damage> tail() const { return tail_; }
  [[nodiscard]] bool any() const { return any_; }
  /// Number of lost hits.
  [[nodiscard]] std::uint64_t hits() const { return hits_; }
  /// Lost hits by cause.
  [[nodiscard]] const Counters& counters() const { return counters_; }
  /// Number of losses of an unknown number of hits.
  [[nodiscard]] std::uint64_t without_hits() const { return without_hits_; }

 private:
  /// Whether more hits may be missing than are counted.
  [[nodiscard]] bool is_hole(const Loss& loss) const { return !numbered_ && (loss.leaves_hole || loss.breaks_off); }
  void wait_for_hit(const Loss& loss);
  void see(Tick time);
  void place(const Loss& loss, Epoch first, Epoch last);
  void add(const Damage& damage);

  std::uint32_t epoch_ticks_;
  bool numbered_;
  bool joined_;
  std::optional<Tick> latest_;  ///< latest time of the hits taken
  std::vector<Loss> unplaced_;  ///< losses that wait for the next hit
  std::deque<Damage> damage_;   ///< ascending first epochs
  std::optional<Damage> tail_;
  std::uint64_t hits_ = 0;
  Counters counters_;
  std::uint64_t without_hits_ = 0;
  bool any_ = false;
};

}  // namespace eventloom
