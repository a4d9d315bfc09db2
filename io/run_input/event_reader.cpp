#include "io/run_input/event_reader.hpp"

#include <algorithm>
#include <optional>

#include "core/runtime/error.hpp"
#include "io/hdf5/objects.hpp"
#include "io/run_format/layout.hpp"

namespace eventloom {

namespace {

/// Buffer size for reading only some rows of a file.
constexpr std::size_t kSmallBuffer = std::size_t{4} << 10;

/// Reads the hits of a file from front to back.
class OutputHits {
 public:
  explicit OutputHits(const OpenOutput& open)
      : times_(open.column(hit_columns()[kHitTime], kSmallBuffer)),
        channels_(open.column(hit_columns()[kHitChannel], kSmallBuffer)),
        sources_(open.column(hit_columns()[kHitSource], kSmallBuffer)) {
    if (!has_object(open.file.get(), payload_column().path)) return;
    offsets_.emplace(open.column(first_payload_column(), kSmallBuffer));
    payload_.emplace(open.column(payload_column(), kSmallBuffer));
    word_ = offsets_->next<std::uint64_t>();
    payload_->skip(word_);
  }

  [[nodiscard]] std::uint64_t left() const { return times_.rows_left(); }

  void skip(std::uint64_t n) {
    times_.skip(n);
    channels_.skip(n);
    sources_.skip(n);
    if (!payload_ || n == 0) return;
    offsets_->skip(n - 1);
    const auto end = offsets_->next<std::uint64_t>();
    if (end < word_) throw UserError("the offsets in /hits/first_payload do not rise");
    payload_->skip(end - word_);
    word_ = end;
  }

  OutputHit next() {
    OutputHit hit{times_.next<Tick>(), channels_.next<std::uint32_t>(), sources_.next<std::uint16_t>(), {}};
    if (!payload_) return hit;
    for (const auto end = offsets_->next<std::uint64_t>(); word_ < end && payload_->rows_left() > 0; ++word_) {
      hit.payload.push_back(payload_->next<std::uint32_t>());
    }
    return hit;
  }

 private:
  ColumnCursor times_;
  ColumnCursor channels_;
  ColumnCursor sources_;
  std::optional<ColumnCursor> offsets_;
  std::optional<ColumnCursor> payload_;
  std::uint64_t word_ = 0;  ///< first payload word of the next hit
};

std::vector<ColumnCursor> event_cursors(const OpenOutput& open, std::uint64_t first) {
  std::vector<ColumnCursor> columns;
  for (const auto& spec : event_columns()) {
    columns.push_back(open.column(spec, kSmallBuffer));
    columns.back().skip(first);
  }
  return columns;
}

OutputEvent next_event(std::vector<ColumnCursor>& columns) {
  OutputEvent event;
  event.time = columns[kEventTime].next<Tick>();
  event.duration = columns[kEventDuration].next<Tick>();
  event.n_hits = columns[kEventHits].next<std::uint32_t>();
  event.slice = columns[kEventSlice].next<std::uint64_t>();
  event.flags = columns[kEventFlags].next<std::uint32_t>();
  event.sources_missing = columns[kEventMissing].next<std::uint64_t>();
  return event;
}

}  // namespace

std::vector<OutputEvent> read_event_rows(const OpenOutput& open, std::uint64_t first, std::uint64_t n,
                                         std::uint64_t most_hits) {
  auto columns = event_cursors(open, first);
  auto first_hit = open.column(first_hit_column(), kSmallBuffer);
  first_hit.skip(first);
  OutputHits hits(open);
  hits.skip(first_hit.next<std::uint64_t>());
  std::vector<OutputEvent> events;
  for (auto left = std::min(n, columns[kEventTime].rows_left()); left > 0; --left) {
    auto& event = events.emplace_back(next_event(columns));
    if (event.n_hits > hits.left()) {
      throw UserError("'" + open.name + "' is damaged: events with more hits than there are");
    }
    const auto shown = std::min(event.n_hits, most_hits);
    event.hits.reserve(shown);
    while (event.hits.size() < shown) event.hits.push_back(hits.next());
    hits.skip(event.n_hits - shown);
  }
  return events;
}

}  // namespace eventloom
