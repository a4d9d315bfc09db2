#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5/column_spec.hpp"

/// Names and meanings of the datasets in run.h5, part files and merged files. Only this file maps fields to datasets
/// (design contract, section 6).
namespace eventloom {

/// Sources beyond this number share the last bit of the masks of missing sources.
inline constexpr std::size_t kMaskedSources = 64;

/// Attributes of run.h5 that describe its invocations. The file of `run --merge` has them. That of `merge` depends on
/// the input and the definition only, so it has all attributes but these.
inline constexpr std::array kInvocationAttributes = {"began", "ended", "command_lines"};

/// Attributes of parts: events that the filters rejected, in total and per expression.
inline constexpr const char* kEventsRejected = "events_rejected";
inline constexpr const char* kRejectedBy = "events_rejected_by";

/// Indices into event_columns(), hit_columns() and ledger_columns().
enum EventColumn : std::size_t {
  kEventTime,
  kEventDuration,
  kEventHits,
  kEventSlice,
  kEventFlags,
  kEventMissing,
  kEventColumns
};
enum HitColumn : std::size_t { kHitTime, kHitChannel, kHitSource, kHitColumns };
enum LedgerColumn : std::size_t {
  kLedgerSlice,
  kLedgerIn,
  kLedgerInEvents,
  kLedgerOutside,
  kLedgerRejected,
  kLedgerMissing,
  kLedgerBuilder,
  kLedgerDropped  ///< first of kDropCauses columns
};

const std::vector<ColumnSpec>& event_columns();
const std::vector<ColumnSpec>& hit_columns();
const std::vector<ColumnSpec>& ledger_columns();

/// Columns of offsets have one element more than there are events, hits or slices.
const ColumnSpec& first_hit_column();
const ColumnSpec& first_payload_column();
const ColumnSpec& payload_column();
/// `units` is empty: the run states the unit.
const ColumnSpec& value_column();
const ColumnSpec& missing_offsets_column();
const ColumnSpec& missing_list_column();
/// Data of the NeXus entry in a merged file: one element per hit.
const ColumnSpec& event_time_offset_column();
const ColumnSpec& event_id_column();
/// Ids of the NeXus entry: source x this + channel. Larger than any channel.
inline constexpr std::uint64_t kNexusChannels = std::uint64_t{1} << 28;

}  // namespace eventloom
