#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "io/run_input/output_event.hpp"
#include "io/run_input/run_tables.hpp"

namespace eventloom {

/// The events of a run one by one, in the order of time, over all parts. Reads every row of /events, /hits and
/// /payload, checksums included, whether it is asked for or not. Memory is bounded, however large an event is. All
/// functions throw UserError that names the file when one is missing or damaged, or its events are not in order.
class EventStream {
 public:
  /// `run` must outlive the stream. `buffer_bytes`: of all columns together, roughly.
  EventStream(const RunTables& run, std::size_t buffer_bytes);
  ~EventStream();

  /// Goes to the next event; false at the end.
  bool next();
  /// Where it is, and its number in the order of time; its `hits` are empty. Valid until the call of next().
  [[nodiscard]] const OutputEvent& event() const { return event_; }
  [[nodiscard]] const EventPlace& place() const { return place_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }

  /// Replaces `piece` by the next hits of the event; an empty one after the last. Pieces are filled up: two streams
  /// whose events have equal numbers of hits return pieces of equal sizes.
  void read_hits(HitPiece& piece);
  /// Likewise the next payload words of the hits read so far.
  void read_words(std::vector<std::uint32_t>& words);

 private:
  struct Parts;

  std::unique_ptr<Parts> parts_;
  OutputEvent event_;
  EventPlace place_;
  std::uint64_t number_ = 0;
  bool started_ = false;
};

}  // namespace eventloom
