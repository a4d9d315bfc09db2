#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <vector>

#include "io/run_input/output_event.hpp"
#include "io/run_input/part_columns.hpp"

namespace eventloom {

/// A part or a merged file from its first event to its last; inside of an event from its first hit to its last. All
/// functions throw UserError that names the file when it is damaged.
class PartEvents {
 public:
  /// `buffer`: bytes of each column.
  PartEvents(OpenOutput open, std::uint64_t n_events, std::uint64_t n_hits, std::size_t buffer);

  /// Of the next event.
  [[nodiscard]] std::uint64_t row() const { return columns_.events[kEventTime].rows() - rows_left(); }
  [[nodiscard]] std::uint64_t rows_left() const { return columns_.events[kEventTime].rows_left(); }
  /// See PartCursor.
  [[nodiscard]] bool done() const { return hits_left_ == 0 && words_left_ == 0 && columns_.done(); }
  Tick key() { return columns_.key(); }

  /// From the first event to this one.
  void skip_to(std::uint64_t row);
  /// Its `hits` stay as they are.
  void read_event(OutputEvent& event);
  /// Replaces `piece` by the next hits of the event; an empty one after the last. Pieces are filled up.
  void read_hits(HitPiece& piece);
  /// Likewise the next payload words of the hits read so far.
  void read_words(std::vector<std::uint32_t>& words);
  /// What is left of the event.
  void read_through();

 private:
  void read_lengths(std::uint64_t n, std::vector<std::uint64_t>& lengths);

  PartColumns columns_;
  ColumnCursor first_hit_;
  std::uint64_t end_of_event_ = 0;  ///< first hit of the next event
  std::uint64_t hits_left_ = 0;     ///< of the event
  std::uint64_t words_left_ = 0;    ///< of the hits read
  HitPiece unread_hits_;
  std::vector<std::uint32_t> unread_words_;
};

/// Rows [first, first + n) of /events of a part or a merged file, as far as there are any; of each event its first
/// `most_hits` hits. Throws UserError when the file is damaged.
std::vector<OutputEvent> read_event_rows(const std::filesystem::path& path, std::uint64_t first, std::uint64_t n,
                                         std::uint64_t most_hits = std::numeric_limits<std::uint64_t>::max());

}  // namespace eventloom
