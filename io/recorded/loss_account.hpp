#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "core/dataflow/source.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Gives the losses of a reader their place in time, as damage of its stream: a loss lies at the latest hit before it
/// in the file, and a hole extends to the hit after it; before the first hit it goes back to epoch 0. Where times are
/// event numbers there are no holes: a missing event shows by its number.
class LossAccount {
 public:
  /// `joined`: the stream is read from somewhere in its middle, and what came before is not a loss.
  explicit LossAccount(const StreamHeader& header, bool joined = false)
      : epoch_ticks_(header.base.epoch_ticks), numbered_((header.flags & kNumbered) != 0), joined_(joined) {}

  /// The reader's blocks, in order.
  void take(const HitBlock& block);
  /// Nothing that begins before `epoch` will be collected again: later losses lie there or after.
  void close_before(Epoch epoch) { latest_ = std::max(latest_.value_or(0), epoch * epoch_ticks_); }
  /// After the last block: where the file breaks off, damage continues without end.
  void finish();
  /// Damage that ends before `epoch` is not needed any more.
  void release_before(Epoch epoch);

  /// Appends the damage that overlaps `epochs` to `out`. Complete for epochs before that of the last hit taken.
  void collect(EpochRange epochs, std::vector<Damage>& out) const;
  /// First epoch from `from` on in which damage begins.
  [[nodiscard]] std::optional<Epoch> next_beginning(Epoch from) const;
  [[nodiscard]] std::optional<Damage> tail() const { return tail_; }
  [[nodiscard]] bool any() const { return any_; }
  /// Hits lost.
  [[nodiscard]] std::uint64_t hits() const { return hits_; }
  /// The hits lost, by cause.
  [[nodiscard]] const Counters& counters() const { return counters_; }
  /// Losses of an unknown number of hits.
  [[nodiscard]] std::uint64_t without_hits() const { return without_hits_; }

 private:
  /// More may be missing than is known.
  [[nodiscard]] bool is_hole(const Loss& loss) const { return !numbered_ && (loss.leaves_hole || loss.breaks_off); }
  void wait_for_hit(const Loss& loss);
  void see(Tick time);
  void place(const Loss& loss, Epoch first, Epoch last);
  void add(const Damage& damage);

  std::uint64_t epoch_ticks_;
  bool numbered_;
  bool joined_;
  std::optional<Tick> latest_;  ///< of the hits taken
  std::vector<Loss> unplaced_;  ///< that wait for the next hit
  std::deque<Damage> damage_;   ///< in rising first epochs
  std::optional<Damage> tail_;
  std::uint64_t hits_ = 0;
  Counters counters_;
  std::uint64_t without_hits_ = 0;
  bool any_ = false;
};

}  // namespace eventloom
