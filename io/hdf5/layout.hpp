#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Names and meanings of the datasets in run.h5, part files and merged files: the one place that maps fields to
/// datasets (design contract, section 6).
namespace eventloom {

inline constexpr const char* kRunFormat = "eventloom-run";
inline constexpr const char* kPartFormat = "eventloom-part";
inline constexpr const char* kMergedFormat = "eventloom-merged";
inline constexpr const char* kIndexFormat = "eventloom-run-index";
inline constexpr std::uint64_t kOutputVersion = 1;

/// Sources beyond this number share the last bit of the masks of missing sources.
inline constexpr std::size_t kMaskedSources = 64;

/// Measured with 14 bytes a hit: between 0.25 and 4 MiB sequential writing and reading are about equally fast; random
/// access costs time in proportion to the chunk. Large enough for parallel file systems.
inline constexpr std::size_t kDefaultChunkBytes = std::size_t{512} << 10;

enum class ElementType { u16, u32, u64, i64, f64 };
constexpr std::size_t bytes_of(ElementType type) {
  return type == ElementType::u16 ? 2 : type == ElementType::u32 ? 4 : 8;
}

/// One one-dimensional dataset. Texts become attributes of the dataset; empty ones are omitted.
struct ColumnSpec {
  std::string path;
  ElementType type;
  std::string meaning;
  bool ticks = false;     ///< counts ticks, or event numbers: gets `units`, and `tick_ps`
  std::string bits = {};  ///< meaning of the bits of the number
  std::string units = {};
};

/// Attributes of run.h5 that tell of its invocations. The merged file is a function of the input and the definition: it
/// has all others.
inline constexpr std::array kInvocationAttributes = {"began", "ended", "command_lines"};

/// Attributes of parts: events that the filters rejected in all, and by expression.
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

/// Offsets: one more element than there are events, hits or slices.
const ColumnSpec& first_hit_column();
const ColumnSpec& first_payload_column();
const ColumnSpec& payload_column();
const ColumnSpec& missing_offsets_column();
const ColumnSpec& missing_list_column();

}  // namespace eventloom
