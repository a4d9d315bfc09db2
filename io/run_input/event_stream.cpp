#include "io/run_input/event_stream.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <utility>

#include "core/runtime/error.hpp"
#include "io/hdf5/column_cursor.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/seal.hpp"
#include "io/run_format/layout.hpp"
#include "io/run_input/ledger_reader.hpp"
#include "io/run_input/open_output.hpp"
#include "io/run_input/part_chain.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kPieceHits = 4096;
constexpr std::uint64_t kPieceWords = std::uint64_t{64} << 10;
constexpr std::size_t kLeastBuffer = std::size_t{4} << 10;
/// Number of columns: /events with first_hit, /hits with first_payload, and /payload.
constexpr std::size_t kStreamColumns = std::size_t{kEventColumns} + kHitColumns + 3;

/// `spec` must outlive the column.
ColumnCursor column_of(const OpenOutput& open, const ColumnSpec& spec, std::uint64_t rows, std::size_t buffer) {
  auto column = open.column(spec, buffer);
  if (column.rows() == rows) return column;
  throw UserError(fmt::format("'{}' is damaged: {} has {} rows, not {}", open.name, spec.path, column.rows(), rows));
}

std::vector<ColumnCursor> columns_of(const OpenOutput& open, const std::vector<ColumnSpec>& specs, std::uint64_t rows,
                                     std::size_t buffer) {
  std::vector<ColumnCursor> columns;
  columns.reserve(specs.size());
  for (const auto& spec : specs) columns.push_back(column_of(open, spec, rows, buffer));
  return columns;
}

/// Replaces `to` by the next `n` rows, which must exist.
template <class T>
void take_rows(ColumnCursor& from, std::uint64_t n, std::vector<T>& to) {
  to.clear();
  while (n > 0) {
    const auto rows = from.peek<T>();
    const auto now = std::min<std::uint64_t>(n, rows.size());
    to.insert(to.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(now));
    from.skip(now);
    n -= now;
  }
}

/// Reads a part from its first event to its last, and an event from its first hit to its last.
class StreamedPart {
 public:
  StreamedPart(const std::filesystem::path& path, const PartInfo& info, std::size_t number, std::size_t buffer)
      : open_(path),
        number_(number),
        events_(columns_of(open_, event_columns(), info.events, buffer)),
        first_hit_(column_of(open_, first_hit_column(), info.events + 1, buffer)),
        hits_(columns_of(open_, hit_columns(), info.hits, buffer)) {
    check_part(open_.file.get(), path, info.datasets_sum);
    expect(first_hit_.next<std::uint64_t>() == 0, "/events/first_hit does not begin with 0");
    if (!has_object(open_.file.get(), payload_column().path)) return;
    offsets_.emplace(column_of(open_, first_payload_column(), info.hits + 1, buffer));
    payload_.emplace(open_.column(payload_column(), buffer));
    expect(offsets_->next<std::uint64_t>() == 0, "/hits/first_payload does not begin with 0");
  }

  /// True after the last event. Throws UserError when hits or payload words are left then.
  [[nodiscard]] bool done() const {
    if (events_[kEventTime].rows_left() > 0 || hits_left_ > 0 || words_left_ > 0) return false;
    expect(hits_[kHitTime].rows_left() == 0, "hits that belong to no event");
    expect(!payload_ || payload_->rows_left() == 0, "payload that belongs to no hit");
    return true;
  }
  Tick next_time() { return events_[kEventTime].peek<Tick>().front(); }

  EventPlace read_event(OutputEvent& event) {
    const EventPlace place{number_, events_[kEventTime].rows() - events_[kEventTime].rows_left()};
    event.time = events_[kEventTime].next<Tick>();
    event.duration = events_[kEventDuration].next<Tick>();
    event.n_hits = events_[kEventHits].next<std::uint32_t>();
    event.slice = events_[kEventSlice].next<std::uint64_t>();
    event.flags = events_[kEventFlags].next<std::uint32_t>();
    event.sources_missing = events_[kEventMissing].next<std::uint64_t>();
    expect(event.n_hits <= hits_[kHitTime].rows_left(), "events with more hits than there are");
    hits_left_ = event.n_hits;
    end_of_event_ += event.n_hits;
    expect(first_hit_.next<std::uint64_t>() == end_of_event_, "/events/first_hit and n_hits disagree");
    return place;
  }

  void read_hits(HitPiece& piece) {
    const auto n = std::min(hits_left_, kPieceHits);
    take_rows(hits_[kHitTime], n, piece.time);
    take_rows(hits_[kHitChannel], n, piece.channel);
    take_rows(hits_[kHitSource], n, piece.source);
    read_lengths(n, piece.words);
    hits_left_ -= n;
  }

  void read_words(std::vector<std::uint32_t>& words) {
    const auto n = std::min(words_left_, kPieceWords);
    words.clear();
    if (n > 0) take_rows(*payload_, n, words);
    words_left_ -= n;
  }

 private:
  void expect(bool holds, const char* otherwise) const {
    if (!holds) throw UserError(fmt::format("'{}' is damaged: {}", open_.name, otherwise));
  }

  void read_lengths(std::uint64_t n, std::vector<std::uint64_t>& lengths) {
    if (!payload_) {
      lengths.assign(n, 0);
      return;
    }
    take_rows(*offsets_, n, lengths);
    for (auto& length : lengths) {
      const auto end = length;
      expect(end >= first_word_, "the offsets in /hits/first_payload do not rise");
      length = end - std::exchange(first_word_, end);
      words_left_ += length;
    }
    expect(words_left_ <= payload_->rows_left(), "hits with more payload than there is");
  }

  OpenOutput open_;
  std::size_t number_;
  std::vector<ColumnCursor> events_;
  ColumnCursor first_hit_;
  std::vector<ColumnCursor> hits_;
  std::optional<ColumnCursor> offsets_;
  std::optional<ColumnCursor> payload_;
  std::uint64_t end_of_event_ = 0;  ///< first hit of the next event
  std::uint64_t hits_left_ = 0;     ///< hits of the event not yet read
  std::uint64_t first_word_ = 0;    ///< first payload word of the next hit
  std::uint64_t words_left_ = 0;    ///< unread payload words of the hits read
};

}  // namespace

/// All chains, and the one with the current event.
struct EventStream::Chains {
  using Head = std::pair<Tick, std::size_t>;  // time of the next event, chain index

  Chains(const RunTables& run, std::size_t buffer_bytes)
      : place(run.parts.size() == 1 ? run.folder / run.parts.front().name : run.folder) {
    auto split = chains_of(run.parts);
    const auto columns = std::max<std::size_t>(split.size(), 1) * kStreamColumns;
    const auto buffer = std::clamp(buffer_bytes / columns, kLeastBuffer, kColumnBuffer);
    const auto open = [&run, buffer](const PartInfo& part) {
      return std::make_unique<StreamedPart>(run.folder / part.name, part, number_of_part(run, part), buffer);
    };
    for (auto& parts : split) of.emplace_back(std::move(parts), open);
    for (std::size_t i = 0; i < of.size(); ++i) advance(i);
  }

  void advance(std::size_t chain) {
    if (auto* part = of[chain].part()) heads.emplace(part->next_time(), chain);
  }

  std::filesystem::path place;  ///< path of the run, for messages
  std::vector<PartChain<StreamedPart>> of;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  std::size_t at = 0;
  StreamedPart* current = nullptr;  ///< the part with the current event
};

EventStream::EventStream(const RunTables& run, std::size_t buffer_bytes)
    : chains_(reading(run.folder, [&] { return std::make_unique<Chains>(run, buffer_bytes); })) {}

EventStream::~EventStream() = default;

bool EventStream::next() {
  return reading(chains_->place, [&] {
    if (chains_->current != nullptr) {
      read_through();
      chains_->current = nullptr;
      chains_->advance(chains_->at);
    }
    if (chains_->heads.empty()) return false;
    const auto [time, chain] = chains_->heads.top();
    chains_->heads.pop();
    if (started_ && time <= event_.time) {
      throw UserError(
          fmt::format("the events in '{}' are not in the order of time: a file is damaged, or they are not of one run",
                      chains_->place.string()));
    }
    number_ += started_ ? 1 : 0;
    started_ = true;
    chains_->at = chain;
    chains_->current = chains_->of[chain].part();
    place_ = chains_->current->read_event(event_);
    return true;
  });
}

void EventStream::read_hits(HitPiece& piece) {
  reading(chains_->place, [&] { chains_->current->read_hits(piece); });
}

void EventStream::read_words(std::vector<std::uint32_t>& words) {
  reading(chains_->place, [&] { chains_->current->read_words(words); });
}

void EventStream::read_through() {
  do {
    do chains_->current->read_words(unread_words_);
    while (!unread_words_.empty());
    chains_->current->read_hits(unread_hits_);
  } while (!unread_hits_.time.empty());
}

}  // namespace eventloom
