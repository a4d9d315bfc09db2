#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

/// Reports of a rank to rank 0 during a run; little-endian, as drawn, unused fields zero. Values are sums since the
/// start of the run, except those of channels. A message holds the values that have changed since the rank's last
/// message:
///
///   TelemetryHead
///   for each of its sections: TelemetrySection, then the number of rows that it states, of the kind that it names
///
/// Sections are in ascending order of kind, each at most once. Hits belong to the preceding events, in their order.
namespace eventloom {

inline constexpr std::uint32_t kTelemetryMagic = 0x314d4c45;  // "ELM1"

struct TelemetryHead {
  std::uint32_t magic = kTelemetryMagic;
  std::uint32_t sections = 0;
  std::uint64_t slices_sent = 0;      ///< slices that every source of the rank has sent to every builder
  std::uint64_t slices_expected = 0;  ///< estimated total; 0: unknown, or the rank has no source
  std::uint64_t resident_bytes = 0;   ///< memory of the process
  std::uint8_t last = 0;              ///< the rank has left its event loop
  std::array<std::uint8_t, 7> reserved{};
};
static_assert(sizeof(TelemetryHead) == 40 && std::has_unique_object_representations_v<TelemetryHead>);

struct TelemetrySection {
  enum Kind : std::uint32_t {
    kCounters,
    kSources,
    kBuilders,
    kWriters,
    kLinks,
    kBins,
    kEvents,
    kHits,
    kChannels,
    kKinds
  };
  std::uint32_t kind = kCounters;
  std::uint32_t rows = 0;
};
static_assert(sizeof(TelemetrySection) == 8 && std::has_unique_object_representations_v<TelemetrySection>);

/// A counter of the run, or of one of its sources.
struct CounterRow {
  static constexpr std::uint32_t kOfRun = 0xffffffff;
  std::uint32_t source = kOfRun;
  std::uint16_t metric = 0;  ///< Metric
  std::uint16_t kept = 0;    ///< 1: reported even while it is 0
  std::uint64_t value = 0;
};
static_assert(sizeof(CounterRow) == 16 && std::has_unique_object_representations_v<CounterRow>);

enum class SourceState : std::uint32_t {
  recorded,
  live,
  silent,    ///< live; no data have arrived for a while
  given_up,  ///< live; slices are built without it
  full,      ///< live; the run cannot take its data fast enough
  ended,
};
inline constexpr std::uint32_t kSourceStates = 6;

struct SourceRow {
  std::uint32_t source = 0;
  SourceState state = SourceState::recorded;
  std::uint64_t hits = 0;   ///< hits read so far, including those lost in damage
  std::uint64_t bytes = 0;  ///< size of the messages to builders
  friend bool operator==(const SourceRow&, const SourceRow&) = default;
};
static_assert(sizeof(SourceRow) == 24 && std::has_unique_object_representations_v<SourceRow>);

struct BuilderRow {
  std::uint32_t builder = 0;
  std::uint32_t reserved = 0;
  std::uint64_t slices = 0;
  std::uint64_t events = 0;  ///< events found, before any filter
  std::uint64_t hits = 0;
  std::uint64_t busy_ns = 0;  ///< time spent on building
  friend bool operator==(const BuilderRow&, const BuilderRow&) = default;
};
static_assert(sizeof(BuilderRow) == 40 && std::has_unique_object_representations_v<BuilderRow>);

/// A filter, or a builder in a run without filters.
struct WriterRow {
  std::uint32_t writer = 0;
  std::uint32_t reserved = 0;
  std::uint64_t slices = 0;
  std::uint64_t events = 0;  ///< events written
  std::uint64_t hits_rejected = 0;
  std::uint64_t events_rejected = 0;
  friend bool operator==(const WriterRow&, const WriterRow&) = default;
};
static_assert(sizeof(WriterRow) == 40 && std::has_unique_object_representations_v<WriterRow>);

/// The link from the sources of the rank to a builder.
struct LinkRow {
  std::uint32_t builder = 0;
  std::uint32_t cells = 0;  ///< cells of the ring in use
  std::uint32_t depth = 0;  ///< number of cells in the ring
  std::uint32_t reserved = 0;
  std::uint64_t bytes = 0;  ///< size of the messages
  friend bool operator==(const LinkRow&, const LinkRow&) = default;
};
static_assert(sizeof(LinkRow) == 24 && std::has_unique_object_representations_v<LinkRow>);

enum class HistogramKind : std::uint16_t {
  multiplicity,  ///< hits of an event
  duration,      ///< ticks from the first hit of an event to its last
  interval,      ///< ticks from the first hit of an event to that of the next
  latency,       ///< ns from the first hit of an event until it is written
};
inline constexpr std::uint16_t kHistograms = 4;

struct BinRow {
  HistogramKind histogram = HistogramKind::multiplicity;
  std::uint16_t bin = 0;  ///< see core/monitor/log_histogram.hpp; one past the last bin: sum of the counted values
  std::uint32_t reserved = 0;
  std::uint64_t count = 0;
};
static_assert(sizeof(BinRow) == 16 && std::has_unique_object_representations_v<BinRow>);

/// One of the latest events.
struct EventRow {
  std::uint64_t time = 0;      ///< ticks
  std::uint64_t duration = 0;  ///< ticks
  std::uint64_t slice = 0;
  std::uint32_t flags = 0;  ///< EventFlag
  std::uint32_t n_hits = 0;
  std::uint32_t hits_sent = 0;  ///< number of its hits that follow, counted from the first
  std::uint32_t payload = 0;    ///< 1: the run has payload
  friend bool operator==(const EventRow&, const EventRow&) = default;
};
static_assert(sizeof(EventRow) == 40 && std::has_unique_object_representations_v<EventRow>);

struct EventHitRow {
  std::uint64_t since_first = 0;  ///< ticks
  std::uint32_t channel = 0;
  std::uint16_t source = 0;
  std::uint16_t payload_words = 0;            ///< number of words in `payload`
  std::array<std::uint32_t, 2> payload = {};  ///< first payload words
  friend bool operator==(const EventHitRow&, const EventHitRow&) = default;
};
static_assert(sizeof(EventHitRow) == 24 && std::has_unique_object_representations_v<EventHitRow>);

/// Hits that the rank has written since its last message: those of a channel, or of all channels of a source that are
/// not counted individually. If there are many rows, messages carry them in turn; the last message has all.
struct ChannelRow {
  static constexpr std::uint32_t kOthers = 0xffffffff;
  std::uint32_t source = 0;  ///< below 65536
  std::uint32_t channel = 0;
  std::uint64_t hits = 0;
  friend bool operator==(const ChannelRow&, const ChannelRow&) = default;
};
static_assert(sizeof(ChannelRow) == 16 && std::has_unique_object_representations_v<ChannelRow>);

/// Carries the cells of a histogram of `--hist`, on a separate channel, while clients request it. Rank 0 asks each rank
/// with writers; the rank answers with the entries that its writers have added since its last report on these cells,
/// and rank 0 then asks for the next cells. Messages thus cannot pile up.
///
///   kAsk, kDone   rank 0 to a rank   CellsHead
///   kAnswer         the answer         CellsHead, then FilledCell rows, ascending, of cells with new entries
struct CellsHead {
  enum Kind : std::uint32_t {
    kAsk,
    kAnswer,
    kDone,  ///< the last message to the rank
  };
  std::uint32_t kind = kAsk;
  std::uint32_t histogram = 0;
  std::uint32_t begin = 0;   ///< the first cell, counted within the histogram: see HistogramSet
  std::uint32_t end = 0;     ///< one past the last cell; in an answer, which is limited in size, at most what was asked
  std::uint32_t resets = 0;  ///< how often the rank has reset the histograms; the rows are the entries since
};
static_assert(sizeof(CellsHead) == 20 && std::has_unique_object_representations_v<CellsHead>);

}  // namespace eventloom
