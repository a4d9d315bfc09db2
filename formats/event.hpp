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
  kTruncated = 1,   ///< longer than the overlap and cut there
  kIncomplete = 2,  ///< data of a source is missing where the event lies
  kTagError = 4,    ///< sources contradicted each other on the tag of the event
};

/// Why hits did not reach event building; the names of `/ledger/hits_dropped_*`.
enum class DropCause : std::uint8_t {
  corrupt,              ///< violates the format
  duplicate,            ///< repeated: an epoch buffer, or an event of the same number
  out_of_order,         ///< an epoch buffer that comes late
  repeated_incomplete,  ///< the unfinished first copy of an event that its writer repeated
  out_of_step,  ///< an event whose number does not fit its neighbours, or whose trigger other sources contradict
  untimed,      ///< an event without the requested time stamp
  lost,         ///< on the way from a live source
  late,         ///< of a live source: they came after their slice had been closed
  congested,    ///< of a live source: the run could not take them
  masked,       ///< of a channel that the user masks
  cut,          ///< with a first payload word outside what the user asks for
};
inline constexpr std::array<std::string_view, 11> kDropCauseNames = {
    "corrupt",   "duplicate", "out_of_order", "repeated_incomplete", "out_of_step", "untimed", "lost", "late",
    "congested", "masked",    "cut"};
inline constexpr std::size_t kDropCauses = kDropCauseNames.size();
/// So many, the first ones, every version has counted; files of earlier versions may lack the others.
inline constexpr std::size_t kFirstDropCauses = 3;

/// Whether it drops what the user does not want: no loss.
constexpr bool wanted(DropCause cause) { return cause == DropCause::masked || cause == DropCause::cut; }

/// Whether an untrusted value is a cause.
constexpr bool known(DropCause cause) { return static_cast<std::size_t>(cause) < kDropCauses; }

/// Damage of a stream of time-sorted hits itself: hits of any source may be missing.
inline constexpr std::uint16_t kAllOrigins = 0xffff;

/// A stretch of one source's stream that is not used. Plain bytes: travels with the epoch buffers.
struct Damage {
  std::uint64_t first_epoch = 0;  ///< the slice that owns this epoch accounts for it
  std::uint64_t n_epochs = 0;     ///< epochs that may lack hits: events touching them are incomplete
  std::uint64_t file_offset = 0;  ///< bytes, in the source's stream
  std::uint32_t n_hits = 0;       ///< hits lost, as far as the headers and the index say
  DropCause cause = DropCause::corrupt;
  std::uint8_t reserved = 0;
  std::uint16_t origin = 0;  ///< in streams of time-sorted hits: the source of the hits, or kAllOrigins
};
static_assert(sizeof(Damage) == 32);
/// Damage of no epochs still belongs to one; damage up to the end of time ends with it.
inline EpochRange epochs_of(const Damage& damage) {
  constexpr Epoch kLast = std::numeric_limits<Epoch>::max();
  const std::uint64_t n = std::max<std::uint64_t>(damage.n_epochs, 1);
  return {damage.first_epoch, damage.first_epoch > kLast - n ? kLast : damage.first_epoch + n};
}

/// The account of one slice. hits_in = in_events + outside + rejected + the sum of dropped.
struct LedgerRow {
  std::uint64_t slice = 0;
  std::uint64_t hits_in = 0;
  std::uint64_t hits_in_events = 0;  ///< hits of this slice in events that were kept, whichever slice owns the event
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

/// Sources as the bits of a word: bit i is source i; bit 63 stands for source 63 and all above.
constexpr std::uint64_t source_bit(SourceId source) {
  return std::uint64_t{1} << (source.value < 63 ? source.value : 63);
}

/// Events of one slice, one element of each column per event, in rising time.
struct EventColumns {
  std::vector<Tick> time;      ///< of the first hit
  std::vector<Tick> duration;  ///< last hit less first hit
  std::vector<std::uint32_t> n_hits;
  std::vector<std::uint32_t> flags;
  std::vector<std::uint64_t> sources_missing;
  /// Hits of the event that lie in the slice; the ledger row of the slice counts only these.
  std::vector<std::uint32_t> hits_in_slice;
  /// 0 for an event of another slice that is here only because it holds hits of this one.
  std::vector<std::uint8_t> owned;

  [[nodiscard]] std::size_t size() const { return time.size(); }
};

/// Hits of the events, in the order of the events; within an event by (time, source, position in the source's stream).
struct HitColumns {
  std::vector<Tick> time;
  std::vector<std::uint32_t> channel;
  std::vector<std::uint16_t> source;
  /// Payload words of each hit; empty when the run has no payload.
  std::vector<std::uint32_t> payload_words;
  std::vector<std::uint32_t> payload;

  [[nodiscard]] std::size_t size() const { return time.size(); }
  /// Keeps the memory.
  void clear() {
    time.clear();
    channel.clear();
    source.clear();
    payload_words.clear();
    payload.clear();
  }
};

/// Hits of one source that a builder had to drop.
struct SourceLoss {
  std::uint32_t source = 0;
  DropCause cause = DropCause::corrupt;
  std::uint64_t n_hits = 0;
};

/// Markers of one source that events do not hold.
struct MarkersLeftOut {
  std::uint32_t source = 0;
  MarkerCounts counts;
};

/// A builder's result for a slice. Before the filter `ledger.hits_rejected` is 0 and `ledger.hits_in_events` counts the
/// hits of all events in it, foreign ones included.
struct BuiltSlice {
  LedgerRow ledger;
  EventColumns events;
  HitColumns hits;
  std::vector<std::uint32_t> sources_missing;  ///< numbers of the sources that lack data in this slice, rising
  std::vector<SourceLoss> losses;              ///< those found by the builder itself
  std::vector<MarkersLeftOut> left_out;        ///< of sources that have any, rising
  std::uint64_t events_rejected = 0;           ///< of its own events; known from the filter on
  std::vector<std::uint64_t> rejected_by;      ///< likewise, by number of the filter's expression

  [[nodiscard]] SliceId slice() const { return {ledger.slice}; }
};

}  // namespace eventloom
