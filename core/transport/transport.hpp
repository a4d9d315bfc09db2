#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace eventloom {

/// One-sided exchange of one rank with the windows of all ranks, itself included. One thread at a time.
///
/// Puts to one rank may complete in any order, late, and in pieces. The only proof of completion is a flush: rounds()
/// counts them by rank, so that whoever has put something knows whether any flush since then has completed it.
class Transport {
 public:
  virtual ~Transport() = default;

  /// This rank's own window, zeroed at the start. Others write into it at any time: after sync(), check number and
  /// checksum of anything read.
  [[nodiscard]] virtual std::span<std::byte> window() = 0;

  /// Where others have written into window() since the last call with the same `mark`, which is 0 at first: the
  /// offsets, valid until the transport is used again. Nothing when it is not known, and anything may have changed.
  [[nodiscard]] virtual std::optional<std::span<const std::uint64_t>> written_since(std::uint64_t& /*mark*/) {
    return std::nullopt;
  }

  /// Starts to write `data` at `offset` bytes into the window of `rank`. `data` must not change until a flush of the
  /// rank, and nothing may be put to the same place before it.
  void put(int rank, std::uint64_t offset, std::span<const std::byte> data) {
    if (!is_pending(rank)) note_put(rank);
    start_put(rank, offset, data);
  }
  /// As put(), for what the receiver cannot use before all earlier puts have arrived. A model of a network may deliver
  /// it after them; the receiver must check nevertheless.
  void put_notice(int rank, std::uint64_t offset, std::span<const std::byte> data) {
    if (!is_pending(rank)) note_put(rank);
    start_notice(rank, offset, data);
  }

  /// On return all earlier puts to `rank` are complete at the origin and at the target: they are visible to all later
  /// reads of its window. May wait for `rank` to call progress() or flush(). Does nothing when none is pending.
  void flush(int rank);
  /// Flushes the rank whose oldest pending put is the oldest of all. False when no put is pending.
  bool flush_oldest();
  void flush_all();
  /// Flushes the ranks that are near.
  void flush_near();
  /// The number of flushes that had puts to `rank` to complete. A put is complete once this is larger than when it was
  /// made.
  [[nodiscard]] std::uint64_t rounds(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return r < targets_.size() ? targets_[r].rounds : 0;
  }

  /// Whether a flush of `rank` waits for hardly more than the copying of the data: it is on the same host.
  [[nodiscard]] virtual bool is_near(int rank) const = 0;

  /// Lets the transport make progress for others; cheap. Call it whenever there is nothing else to do.
  virtual void progress() = 0;

  /// Orders this rank's loads from its window: later loads come after the remote writes that an earlier load saw,
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
    bool listed = false;  ///< in put_near_
  };
  struct Pending {
    int rank = 0;
    std::uint64_t round = 0;  ///< done when the rank's rounds are beyond it
  };
  [[nodiscard]] bool is_pending(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return r < targets_.size() && targets_[r].pending;
  }
  void note_put(int rank);

  std::vector<Target> targets_;   ///< by rank, as far as anything was put
  std::vector<Pending> pending_;  ///< from first_ on, by the age of the oldest put to the rank; with some that are done
  std::size_t first_ = 0;
  std::vector<int> put_near_;  ///< ranks to which something may be pending since flush_near()
};

/// The windows of an exchange: data, and what steers it, which must not wait for the data on their way. With Open MPI
/// each window has connections of its own.
struct Windows {
  Transport& data;
  Transport& control;
};

}  // namespace eventloom
