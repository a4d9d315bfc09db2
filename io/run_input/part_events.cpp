#include "io/run_input/part_events.hpp"

#include <algorithm>
#include <utility>

namespace eventloom {

namespace {

constexpr std::uint64_t kPieceHits = 4096;
constexpr std::uint64_t kPieceWords = std::uint64_t{64} << 10;
/// Buffer size for reading a few rows of a file.
constexpr std::size_t kSmallBuffer = std::size_t{4} << 10;

/// Replaces `to` with the next `n` rows, which must exist.
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

PartColumns all_columns(OpenOutput open, std::uint64_t n_events, std::uint64_t n_hits, std::size_t buffer) {
  const bool with_payload = open.has(payload_column());
  return {std::move(open), n_events, n_hits, with_payload, buffer};
}

/// Reads the first `n` hits of the current event.
void take_hits(PartEvents& part, std::uint64_t n, std::vector<OutputHit>& hits) {
  HitPiece piece;
  std::vector<std::uint32_t> words;
  auto word = words.begin();
  hits.reserve(n);
  while (hits.size() < n) {
    part.read_hits(piece);
    for (std::size_t i = 0; i < piece.time.size() && hits.size() < n; ++i) {
      auto& hit = hits.emplace_back(OutputHit{piece.time[i], piece.channel[i], piece.source[i], {}, {}});
      if (!piece.value.empty()) hit.value = piece.value[i];
      while (hit.payload.size() < piece.words[i]) {
        if (word == words.end()) {
          part.read_words(words);
          word = words.begin();
        }
        hit.payload.push_back(*word++);
      }
    }
  }
}

}  // namespace

PartEvents::PartEvents(OpenOutput open, std::uint64_t n_events, std::uint64_t n_hits, std::size_t buffer)
    : columns_(all_columns(std::move(open), n_events, n_hits, buffer)),
      first_hit_(columns_.open.column_of(first_hit_column(), n_events + 1, buffer)) {
  columns_.expect(first_hit_.next<std::uint64_t>() == 0, "/events/first_hit does not begin with 0");
  columns_.expect(columns_.first_word == 0, "/hits/first_payload does not begin with 0");
}

void PartEvents::skip_to(std::uint64_t row) {
  if (row == 0) return;
  for (auto& column : columns_.events) column.skip(row);
  first_hit_.skip(row - 1);
  end_of_event_ = first_hit_.next<std::uint64_t>();
  for (auto& column : columns_.hits) column.skip(end_of_event_);
  if (columns_.value) columns_.value->skip(end_of_event_);
  if (!columns_.payload || end_of_event_ == 0) return;
  columns_.first_payload->skip(end_of_event_ - 1);
  columns_.first_word = columns_.first_payload->next<std::uint64_t>();
  columns_.payload->skip(columns_.first_word);
}

void PartEvents::read_event(OutputEvent& event) {
  auto& columns = columns_.events;
  event.time = columns[kEventTime].next<Tick>();
  event.duration = columns[kEventDuration].next<Tick>();
  event.n_hits = columns[kEventHits].next<std::uint32_t>();
  event.slice = columns[kEventSlice].next<std::uint64_t>();
  event.flags = columns[kEventFlags].next<std::uint32_t>();
  event.sources_missing = columns[kEventMissing].next<std::uint64_t>();
  columns_.expect(event.n_hits <= columns_.hits[kHitTime].rows_left(), "events with more hits than there are");
  hits_left_ = event.n_hits;
  end_of_event_ += event.n_hits;
  columns_.expect(first_hit_.next<std::uint64_t>() == end_of_event_, "/events/first_hit and n_hits disagree");
}

void PartEvents::read_hits(HitPiece& piece) {
  const auto n = std::min(hits_left_, kPieceHits);
  take_rows(columns_.hits[kHitTime], n, piece.time);
  take_rows(columns_.hits[kHitChannel], n, piece.channel);
  take_rows(columns_.hits[kHitSource], n, piece.source);
  if (columns_.value) take_rows(*columns_.value, n, piece.value);
  read_lengths(n, piece.words);
  hits_left_ -= n;
}

void PartEvents::read_words(std::vector<std::uint32_t>& words) {
  const auto n = std::min(words_left_, kPieceWords);
  words.clear();
  if (n > 0) take_rows(*columns_.payload, n, words);
  words_left_ -= n;
}

void PartEvents::read_lengths(std::uint64_t n, std::vector<std::uint64_t>& lengths) {
  if (!columns_.payload) {
    lengths.assign(n, 0);
    return;
  }
  take_rows(*columns_.first_payload, n, lengths);
  for (auto& length : lengths) {
    const auto end = length;
    columns_.expect(end >= columns_.first_word, "the offsets in /hits/first_payload do not rise");
    length = end - std::exchange(columns_.first_word, end);
    words_left_ += length;
  }
  columns_.expect(words_left_ <= columns_.payload->rows_left(), "hits with more payload than there is");
}

void PartEvents::read_through() {
  do {
    do read_words(unread_words_);
    while (!unread_words_.empty());
    read_hits(unread_hits_);
  } while (!unread_hits_.time.empty());
}

std::vector<OutputEvent> read_event_rows(const std::filesystem::path& path, std::uint64_t first, std::uint64_t n,
                                         std::uint64_t most_hits) {
  OpenOutput open(path);
  const auto n_events = open.rows(event_columns()[kEventTime]);
  const auto n_hits = open.rows(hit_columns()[kHitTime]);
  PartEvents part(std::move(open), n_events, n_hits, kSmallBuffer);
  part.skip_to(first);
  std::vector<OutputEvent> events;
  for (auto left = std::min(n, part.rows_left()); left > 0; --left) {
    part.read_through();
    auto& event = events.emplace_back();
    part.read_event(event);
    take_hits(part, std::min(event.n_hits, most_hits), event.hits);
  }
  return events;
}

}  // namespace eventloom
