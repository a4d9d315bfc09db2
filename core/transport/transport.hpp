#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace eventloom {

/// One-sided exchange of one rank with the windows of all ranks, including its own. Not thread-safe.
///
/// Puts to one rank may complete in any order, late, and in pieces. A flush proves completion: rounds() counts the
/// flushes by rank, which shows whether a put was followed by one. An answer from a rank on another host that has
/// checked the contents proves it, too (core/ring/README.md).
class Transport {
 public:
  virtual ~Transport() = default;

  /// This rank's own window, initially zero. Others write into it at any time: call sync(), then check number and
  /// checksum of anything read.
  [[nodiscard]] virtual std::span<std::byte> window() = 0;

  /// Offsets at which others have written into window() since the last call with the same `mark`, which is 0 at first;
  /// valid until the transport is used again. std::nullopt if this is unknown: anything may have changed.
  [[nodiscard]] virtual std::optional<std::span<const std::uint64_t>> written_since(std::uint64_t& /*mark*/) {
    return std::nullopt;
  }

  /// Starts writing `data` at `offset` bytes into the window of `rank`. Until the put is known to be complete, `data`
  /// must not change, and no other put may write to the same bytes.
  void put(int rank, std::uint64_t offset, std::span<const std::byte> data) {
    if (!is_pending(rank)) note_put(rank);
    start_put(rank, offset, data);
  }
  /// Like put(), but the receiver cannot use the data before all earlier puts have arrived. A simulated network may
  /// deliver them in that order; the receiver must check nevertheless.
  void put_notice(int rank, std::uint64_t offset, std::span<const std::byte> data) {
    if (!is_pending(rank)) note_put(rank);
    start_notice(rank, offset, data);
  }

  /// On return all earlier puts to `rank` are complete at the origin and at the target: they are visible to all later
  /// reads of its window. May wait for `rank` to call progress() or flush(). Does nothing if no put is pending.
  void flush(int rank);
  /// Flushes the rank with the oldest pending put. Returns false if no put is pending.
  bool flush_oldest();
  void flush_all();
  /// Flushes the ranks that are near.
  void flush_near();
  /// The number of flushes that completed puts to `rank`. A put is complete once this exceeds its value at the time of
  /// the put.
  [[nodiscard]] std::uint64_t rounds(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return r < targets_.size() ? targets_[r].rounds : 0;
  }

  /// Whether flushing `rank` takes hardly longer than copying the data, since it is on the same host and both map its
  /// window. Symmetric.
  [[nodiscard]] virtual bool is_near(int rank) const = 0;

  /// Lets the transport make progress for others; cheap. Call it whenever the rank is idle.
  virtual void progress() = 0;

  /// Orders this rank's loads from its window: later loads come after the remote writes that an earlier load saw, and
  /// earlier loads are complete before any later put.
  virtual void sync() = 0;

 private:
  virtual void start_put(int rank, std::uint64_t offset, std::span<const std::byte> data) = 0;
  virtual void start_notice(int rank, std::uint64_t offset, std::span<const std::byte> data) {
    start_put(rank, offset, data);
  }
  virtual void complete_puts(int rank) = 0;

  struct Target {
    std::uint64_t rounds = 0;
    bool pending = false;
    bool listed = false;  ///< contained in put_near_
  };
  struct Pending {
    int rank = 0;
    std::uint64_t round = 0;  ///< done once the rank's rounds exceed it
  };
  [[nodiscard]] bool is_pending(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return r < targets_.size() && targets_[r].pending;
  }
  void note_put(int rank);

  std::vector<Target> targets_;   ///< indexed by rank, up to the highest rank put to
  std::vector<Pending> pending_;  ///< sorted by the age of the oldest put, starting at first_; some may be done
  std::size_t first_ = 0;
  std::vector<int> put_near_;  ///< ranks to which puts may be pending since flush_near()
};

/// The windows of an exchange: one for data, one for control, which must not wait for data in flight.
struct Windows {
  Transport& data;
  Transport& control;
};

}  // namespace eventloom
