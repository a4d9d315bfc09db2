#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "io/run_input/output_event.hpp"
#include "io/run_input/run_tables.hpp"

namespace eventloom {

/// Reads the events of a run one by one in the order of time, over all parts. Reads every row of /events, /hits and
/// /payload, checksums included, even if it is not requested. Memory is bounded, however large an event is. All
/// functions throw a UserError that names the file if one is missing or damaged, or its events are not in order.
class EventStream {
 public:
  /// `run` must outlive the stream. `buffer_bytes`: approximate total of all columns.
  EventStream(const RunTables& run, std::size_t buffer_bytes);
  ~EventStream();

  /// Goes to the next event; false at the end.
  bool next();
  /// The current event, without its `hits`, its place, and its number in the order of time. Valid until next().
  [[nodiscard]] const OutputEvent& event() const { return event_; }
  [[nodiscard]] const EventPlace& place() const { return place_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }

  /// Replaces `piece` with the next hits of the event; it is empty after the last hit. Pieces are filled completely:
  /// two streams whose events have equal numbers of hits return pieces of equal sizes.
  void read_hits(HitPiece& piece);
  /// Replaces `words` with the next payload words of the hits read so far.
  void read_words(std::vector<std::uint32_t>& words);

 private:
  struct Parts;

  std::unique_ptr<Parts> parts_;
  OutputEvent event_;
  EventPlace place_;
  std::uint64_t number_ = 0;
  bool share_times_;  ///< events may begin at the same tick
  bool started_ = false;
};

}  // namespace eventloom
