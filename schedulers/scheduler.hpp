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

/// The slices that one source could send now. Indexed by builder number.
struct SourceView {
  SourceId source;
  /// The first slice for each builder that the source has not begun to send; kNoSlice while none is known.
  std::span<const SliceId> next;
  /// Whether that slice may be sent now: the builder has room for it, and its time has come. Takes longer than a look
  /// at `next`; asked only for slices before `end`.
  std::function<bool(BuilderId)> ready;
  /// The source has nothing to send from here on.
  SliceId end;
  /// The builder at which a search for one that is ready begins: the one after the last that the source has served; at
  /// first, that with the number of the source. Modulo the number of builders.
  std::uint64_t start = 0;
};
inline constexpr SliceId kNoSlice{std::numeric_limits<std::uint64_t>::max()};

/// Decides which builder gets a slice and in which order a source serves the builders. Independent of the transport,
/// and reads no clock. All results are functions of the arguments and of the recorded claims, the same on every rank,
/// so that a schedule can be replayed and compared offline.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  /// First slice at or after `from` that goes to `builder`; nothing while no builder has claimed that far.
  [[nodiscard]] virtual std::optional<SliceId> next_slice(BuilderId builder, SliceId from) const = 0;
  /// The builder to which `view.source` sends next; nothing when it must wait, or has sent everything.
  [[nodiscard]] virtual std::optional<BuilderId> choose(const SourceView& view) const = 0;

  /// Earliest start of the transfer, in nanoseconds after the common start.
  [[nodiscard]] virtual std::uint64_t start_ns(SourceId, SliceId) const { return 0; }
  /// Shortest time between two starts, ns; 0 when only the order counts. The ranks' clocks must agree better than this.
  [[nodiscard]] virtual std::uint64_t slot_ns() const { return 0; }

  /// With slots: the period after which the same slots recur, ns.
  [[nodiscard]] virtual std::uint64_t cycle_ns() const { return 0; }

  /// Where builders claim their slices: the record of the claims, kept by whoever learns of them. Null when the
  /// assignment is fixed.
  [[nodiscard]] virtual ClaimBook* claims() { return nullptr; }
  /// Where builders claim: the one that gets the next slice, when builder b has room for room[b].
  [[nodiscard]] virtual std::optional<BuilderId> assign(std::span<const std::uint32_t> /*room*/) const {
    return std::nullopt;
  }
};

/// First slice at or after `from` that goes to `builder` and is not in `finished`; kNoSlice while no
/// builder has claimed that far.
SliceId next_unfinished(const Scheduler& scheduler, const SliceSet& finished, BuilderId builder, SliceId from);

struct ScheduleSettings {
  std::string name;             ///< as in `--schedule`: a name, or NAME:ARGUMENT
  std::string table_text = {};  ///< of "table:FILE": the contents of FILE, whose name is for messages
  std::uint32_t n_sources = 1;
  std::uint32_t n_builders = 1;
  SliceId first_slice;        ///< starts are counted from here
  std::uint64_t slot_ns = 0;  ///< length of a slot; 0: only the order counts
  /// Maximum number of slices claimed beyond the lowest unbuilt one.
  std::uint64_t claim_ahead = 64;
};

}  // namespace eventloom
