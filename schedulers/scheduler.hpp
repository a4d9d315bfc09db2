#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "formats/ids.hpp"
#include "formats/slice_set.hpp"
#include "schedulers/claim_book.hpp"

namespace eventloom {

/// The slices that one source could send now, indexed by builder number.
struct SourceView {
  SourceId source;
  /// The first slice for each builder that the source has not begun to send; kNoSlice while none is known.
  std::span<const SliceId> next;
  /// Whether that slice may be sent now: the builder has room and the slot has begun. Costs more than reading `next`;
  /// called only for slices before `end`.
  std::function<bool(BuilderId)> ready;
  /// One past the last slice that the source can send now.
  SliceId end;
  /// The builder at which a search starts, modulo the number of builders: the one after the builder served last, or at
  /// first the source's own number.
  std::uint64_t start = 0;
};
inline constexpr SliceId kNoSlice{std::numeric_limits<std::uint64_t>::max()};

/// Decides which builder gets a slice and in which order a source serves the builders. Knows no transport and reads no
/// clock. All results depend only on the arguments and the recorded claims and are the same on every rank, which makes
/// schedules comparable and replayable offline.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  /// First slice at or after `from` that goes to `builder`; std::nullopt if no builder has claimed that far.
  [[nodiscard]] virtual std::optional<SliceId> next_slice(BuilderId builder, SliceId from) const = 0;
  /// The builder to which `view.source` sends next; std::nullopt when it must wait or has sent everything.
  [[nodiscard]] virtual std::optional<BuilderId> choose(const SourceView& view) const = 0;

  /// Earliest start of the transfer, in nanoseconds after the common start.
  [[nodiscard]] virtual std::uint64_t start_ns(SourceId, SliceId) const { return 0; }
  /// Shortest time between two starts, ns; 0 when only the order matters. The ranks' clocks must agree to better than
  /// this.
  [[nodiscard]] virtual std::uint64_t slot_ns() const { return 0; }

  /// Period after which the same slots recur, ns; used only with slots.
  [[nodiscard]] virtual std::uint64_t cycle_ns() const { return 0; }

  /// The record of the builders' claims, which the caller keeps up to date. Null when the assignment is fixed.
  [[nodiscard]] virtual ClaimBook* claims() { return nullptr; }
  /// The builder that gets the next slice, given that builder b has room for room[b] slices. Used only when builders
  /// claim their slices.
  [[nodiscard]] virtual std::optional<BuilderId> assign(std::span<const std::uint32_t> /*room*/) const {
    return std::nullopt;
  }
};

/// First slice at or after `from` that goes to `builder` and is not in `finished`; kNoSlice if no builder has claimed
/// that far.
SliceId next_unfinished(const Scheduler& scheduler, const SliceSet& finished, BuilderId builder, SliceId from);

struct ScheduleSettings {
  std::string name;             ///< argument of `--schedule`: NAME or NAME:ARGUMENT
  std::string table_text = {};  ///< contents of FILE for "table:FILE"
  std::uint32_t n_sources = 1;
  std::uint32_t n_builders = 1;
  SliceId first_slice;        ///< start times count from here
  std::uint64_t slot_ns = 0;  ///< length of a slot; 0: only the order matters
  /// Maximum number of slices claimed beyond the lowest unbuilt one.
  std::uint64_t claim_ahead = 64;
};

}  // namespace eventloom
