#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <vector>

#include "io/run_input/output_event.hpp"
#include "io/run_input/part_columns.hpp"

namespace eventloom {

/// Reads a part or a merged file event by event, and each event hit by hit. All functions throw a UserError that names
/// the file if it is damaged.
class PartEvents {
 public:
  /// `buffer`: bytes per column.
  PartEvents(OpenOutput open, std::uint64_t n_events, std::uint64_t n_hits, std::size_t buffer);

  /// Row of the next event.
  [[nodiscard]] std::uint64_t row() const { return columns_.events[kEventTime].rows() - rows_left(); }
  [[nodiscard]] std::uint64_t rows_left() const { return columns_.events[kEventTime].rows_left(); }
  /// See PartCursor.
  [[nodiscard]] bool done() const { return hits_left_ == 0 && words_left_ == 0 && columns_.done(); }
  Tick key() { return columns_.key(); }

  /// Skips from the first event to this one.
  void skip_to(std::uint64_t row);
  /// Reads the next event, except its `hits`, which are unchanged.
  void read_event(OutputEvent& event);
  /// Replaces `piece` with the next hits of the event; it is empty after the last hit. Pieces are filled completely.
  void read_hits(HitPiece& piece);
  /// Replaces `words` with the next payload words of the hits read so far.
  void read_words(std::vector<std::uint32_t>& words);
  /// Skips the rest of the event.
  void read_through();

 private:
  void read_lengths(std::uint64_t n, std::vector<std::uint64_t>& lengths);

  PartColumns columns_;
  ColumnCursor first_hit_;
  std::uint64_t end_of_event_ = 0;  ///< first hit of the next event
  std::uint64_t hits_left_ = 0;     ///< unread hits of the event
  std::uint64_t words_left_ = 0;    ///< unread payload words of the hits read
  HitPiece unread_hits_;
  std::vector<std::uint32_t> unread_words_;
};

/// Returns those of the rows [first, first + n) of /events that exist in a part or a merged file, with up to
/// `most_hits` hits per event. Throws UserError if the file is damaged.
std::vector<OutputEvent> read_event_rows(const std::filesystem::path& path, std::uint64_t first, std::uint64_t n,
                                         std::uint64_t most_hits = std::numeric_limits<std::uint64_t>::max());

}  // namespace eventloom
