#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "io/run_format/ledger_entry.hpp"
#include "io/run_format/part_info.hpp"
#include "io/run_format/run_record.hpp"
#include "io/run_input/output_event.hpp"

namespace eventloom {

/// Location of the events, hits and ledger of a run: its parts, or its merged file, which counts as one part.
struct RunTables {
  RunRecord record;
  std::filesystem::path folder;
  std::vector<PartInfo> parts;
  bool merged = false;

  /// Number of events in all parts.
  [[nodiscard]] std::uint64_t events() const;
};

/// Opens a run.h5 or a merged file. A run that is not closed has the parts finished so far. Throws UserError.
RunTables open_run_tables(const std::filesystem::path& path);

/// Index of a part in `run.parts`.
std::size_t number_of_part(const RunTables& run, const PartInfo& part);

/// Identifies an event by its row in /events of a part.
struct EventPlace {
  std::size_t part = 0;
  std::uint64_t row = 0;
  friend auto operator<=>(const EventPlace&, const EventPlace&) = default;
};

/// Consecutive events of a part: one element of each column per event. Valid during the call.
struct EventRows {
  EventPlace first;
  std::span<const Tick> time;
  std::span<const Tick> duration;
  std::span<const std::uint32_t> n_hits;
  std::span<const std::uint64_t> sources_missing;
  std::span<const std::uint32_t> flags;
};
/// Consecutive hits of a part. Valid during the call.
struct HitRows {
  std::span<const std::uint32_t> channel;
  std::span<const std::uint16_t> source;
};

/// These functions read in pieces, in constant memory per chain of parts. They throw UserError with the name of the
/// file when one is missing or damaged.
///
/// Passes all events to `take`, in time order over all parts. `take` returns false to stop.
void scan_events(const RunTables& run, const std::function<bool(const EventRows&)>& take);
/// Passes the hits of all events to `take`, part by part.
void scan_hits(const RunTables& run, const std::function<void(const HitRows&)>& take);
/// Passes the ledger to `take`, in slice order.
void scan_ledger(const RunTables& run, const std::function<void(const LedgerEntry&)>& take);

/// Verifies whole parts, except those above 64 MiB, so that their events are shown as written.
void verify_parts(const RunTables& run, const std::set<std::size_t>& parts);
/// Reads one event with at most `most_hits` of its hits. Verifies only what it reads.
OutputEvent read_event(const RunTables& run, const EventPlace& place, std::uint64_t most_hits);

}  // namespace eventloom
