#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "formats/marker_counts.hpp"

namespace eventloom {

/// Bits of `/events/flags`.
enum EventFlag : std::uint32_t {
  kTruncated = 1,   ///< longer than the overlap, and cut at its end
  kIncomplete = 2,  ///< data of a source are missing in the event's time range
  kTagError = 4,    ///< sources contradict each other on the tag of the event
};

/// Why hits were dropped before event building. The names appear in `/ledger/hits_dropped_*`.
enum class DropCause : std::uint8_t {
  corrupt,              ///< violates the format
  duplicate,            ///< repeated epoch buffer, or event of the same number
  out_of_order,         ///< epoch buffer that comes late
  repeated_incomplete,  ///< incomplete first copy of an event that its writer repeated
  out_of_step,          ///< event whose number does not fit its neighbours, or whose trigger other sources contradict
  untimed,              ///< event without the requested time stamp
  lost,                 ///< lost on the way from a live source
  late,                 ///< arrived from a live source after their slice had been closed
  congested,            ///< a live source delivered faster than the run could take
  masked,               ///< channel masked by the user
  cut,                  ///< first payload word outside the user's cut
  jump,                 ///< time before an earlier one by more than ordinary disorder
  flagged,              ///< flagged by the digitizer with a kind that the user excludes
  outside_stretch,      ///< time outside the stretch that the user wants
  dead_time,            ///< within the dead time that the user gives the channel
  copy,                 ///< equal to another hit of its source, and the user wants one of them
};
inline constexpr std::array<std::string_view, 16> kDropCauseNames = {
    "corrupt",     "duplicate",       "out_of_order", "repeated_incomplete",
    "out_of_step", "untimed",         "lost",         "late",
    "congested",   "masked",          "cut",          "jump",
    "flagged",     "outside_stretch", "dead_time",    "copy"};
inline constexpr std::size_t kDropCauses = kDropCauseNames.size();
/// Number of causes, the first ones, that every version counts. Files of earlier versions may lack the others.
inline constexpr std::size_t kFirstDropCauses = 3;

/// Whether the cause drops hits at the user's request, which is not a loss.
constexpr bool wanted(DropCause cause) {
  switch (cause) {
    case DropCause::masked:
    case DropCause::cut:
    case DropCause::flagged:
    case DropCause::outside_stretch:
    case DropCause::dead_time:
    case DropCause::copy: return true;
    default: return false;
  }
}

/// Whether an untrusted value is a cause.
constexpr bool known(DropCause cause) { return static_cast<std::size_t>(cause) < kDropCauses; }

/// Origin of damage in a stream of time-sorted hits itself: hits of any source may be missing.
inline constexpr std::uint16_t kAllOrigins = 0xffff;

/// An unused stretch of one source's stream. Sent as plain bytes with the epoch buffers.
struct Damage {
  Epoch first_epoch = 0;          ///< the slice that owns this epoch accounts for it
  Epoch n_epochs = 0;             ///< number of epochs that may lack hits; events that touch them are incomplete
  std::uint64_t file_offset = 0;  ///< position in the source's stream, bytes
  std::uint32_t n_hits = 0;       ///< hits lost according to the headers and the index
  DropCause cause = DropCause::corrupt;
  std::uint8_t reserved = 0;
  std::uint16_t origin = 0;  ///< source of the hits, or kAllOrigins; used in streams of time-sorted hits
};
static_assert(sizeof(Damage) == 32);
/// Epochs of damage: at least one, even if n_epochs is 0; the end saturates at the last epoch.
inline EpochRange epochs_of(const Damage& damage) {
  constexpr Epoch kLast = std::numeric_limits<Epoch>::max();
  const Epoch n = std::max<Epoch>(damage.n_epochs, 1);
  return {damage.first_epoch, damage.first_epoch > kLast - n ? kLast : damage.first_epoch + n};
}

/// The account of one slice: hits_in = hits_in_events + hits_outside + hits_rejected + sum of hits_dropped.
struct LedgerRow {
  std::uint64_t slice = 0;
  std::uint64_t hits_in = 0;
  std::uint64_t hits_in_events = 0;  ///< hits of this slice in kept events, whichever slice owns the event
  std::uint64_t hits_outside = 0;
  std::uint64_t hits_rejected = 0;
  std::array<std::uint64_t, kDropCauses> hits_dropped{};
  std::uint32_t builder = 0;

  [[nodiscard]] std::uint64_t dropped() const {
    std::uint64_t sum = 0;
    for (const auto n : hits_dropped) sum += n;
    return sum;
  }
  [[nodiscard]] bool balances() const { return hits_in == hits_in_events + hits_outside + hits_rejected + dropped(); }
};

/// Bit of a source in a word: bit i for source i; bit 63 for source 63 and all above.
constexpr std::uint64_t source_bit(SourceId source) {
  return std::uint64_t{1} << (source.value < 63 ? source.value : 63);
}

/// Events of one slice: one element per event in each column, in ascending time.
struct EventColumns {
  std::vector<Tick> time;      ///< time of the first hit
  std::vector<Tick> duration;  ///< time from the first hit to the last
  std::vector<std::uint32_t> n_hits;
  std::vector<std::uint32_t> flags;
  std::vector<std::uint64_t> sources_missing;
  /// Number of the event's hits that lie in the slice; the slice's ledger row counts only these.
  std::vector<std::uint32_t> hits_in_slice;
  /// 0 for an event of another slice, included only because it has hits of this one.
  std::vector<std::uint8_t> owned;

  [[nodiscard]] std::size_t size() const { return time.size(); }
};

/// Hits of the events, in event order; within an event sorted by (time, source, position in the source's stream).
struct HitColumns {
  std::vector<Tick> time;
  std::vector<std::uint32_t> channel;
  std::vector<std::uint16_t> source;
  /// Number of payload words of each hit; empty if the run has no payload.
  std::vector<std::uint32_t> payload_words;
  std::vector<std::uint32_t> payload;

  [[nodiscard]] std::size_t size() const { return time.size(); }
  /// Removes all hits; keeps the memory.
  void clear() {
    time.clear();
    channel.clear();
    source.clear();
    payload_words.clear();
    payload.clear();
  }
};

/// Hits of one source that a builder dropped.
struct SourceLoss {
  std::uint32_t source = 0;
  DropCause cause = DropCause::corrupt;
  std::uint64_t n_hits = 0;
};

/// Hits of one live source in a slice, including lost ones.
struct SourceHits {
  std::uint32_t source = 0;
  std::uint32_t reserved = 0;
  std::uint64_t n_hits = 0;
  friend bool operator==(const SourceHits&, const SourceHits&) = default;
};

/// Markers of one source that events do not contain.
struct MarkersLeftOut {
  std::uint32_t source = 0;
  MarkerCounts counts;
};

/// Entries in a cell of the histograms of a run.
struct FilledCell {
  std::uint32_t cell = 0;  ///< see HistogramSet
  std::uint32_t count = 0;
  friend bool operator==(const FilledCell&, const FilledCell&) = default;
};

/// A builder's result for a slice. Before the filter, `ledger.hits_rejected` is 0 and `ledger.hits_in_events` counts
/// the hits of all events in it, including foreign ones.
struct BuiltSlice {
  LedgerRow ledger;
  EventColumns events;
  HitColumns hits;
  std::vector<std::uint32_t> sources_missing;  ///< sources that lack data in this slice, ascending
  std::vector<SourceLoss> losses;              ///< losses found by the builder itself
  std::vector<SourceHits> live_hits;           ///< part of `ledger.hits_in` per live source with hits, ascending
  std::vector<MarkersLeftOut> left_out;        ///< markers per source that has any, ascending
  std::vector<FilledCell> filled;              ///< entries of the slice in the histograms of all hits
  std::uint64_t events_rejected = 0;           ///< rejected events owned by this slice; set by the filter
  std::vector<std::uint64_t> rejected_by;      ///< the same by number of the filter's expression

  [[nodiscard]] SliceId slice() const { return {ledger.slice}; }
};

}  // namespace eventloom
