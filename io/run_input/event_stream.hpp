#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "io/run_input/output_event.hpp"
#include "io/run_input/run_tables.hpp"

namespace eventloom {

/// Some consecutive hits of an event, in columns.
struct HitPiece {
  std::vector<Tick> time;
  std::vector<std::uint32_t> channel;
  std::vector<std::uint16_t> source;
  std::vector<std::uint64_t> words;  ///< number of payload words of each hit
};

/// Reads the events of a run one by one, in time order over all parts. Reads every row of /events, /hits and /payload,
/// requested or not, and verifies checksums. Memory is bounded for events of any size. All functions throw
/// UserError with the name of the file when one is missing or damaged, or its events are out of order.
class EventStream {
 public:
  /// `run` must outlive the stream. `buffer_bytes` is the approximate total for all columns.
  EventStream(const RunTables& run, std::size_t buffer_bytes);
  ~EventStream();

  /// Advances to the next event; returns false at the end.
  bool next();
  /// The current event, with empty `hits`, its place, and its number in time order. Valid until next() is called.
  [[nodiscard]] const OutputEvent& event() const { return event_; }
  [[nodiscard]] const EventPlace& place() const { return place_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }

  /// Replaces `piece` by the next hits of the event; empty after the last. Pieces are filled: two streams whose events
  /// have equal numbers of hits return pieces of equal sizes.
  void read_hits(HitPiece& piece);
  /// Replaces `words` by the next payload words of the hits read so far; empty after the last.
  void read_words(std::vector<std::uint32_t>& words);

 private:
  struct Chains;
  void read_through();

  std::unique_ptr<Chains> chains_;
  OutputEvent event_;
  EventPlace place_;
  std::uint64_t number_ = 0;
  bool started_ = false;
  HitPiece unread_hits_;
  std::vector<std::uint32_t> unread_words_;
};

}  // namespace eventloom
