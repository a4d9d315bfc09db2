#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/runtime/metrics.hpp"
#include "formats/event.hpp"
#include "io/recorded/event_numbers.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/recorded/number_word.hpp"

namespace eventloom {

/// Warns if the numbers of a stream that has ended seem to wrap around earlier than stated: see EventNumbers. `place`:
/// the words that hold them.
void report_narrower(const std::string& name, const NumberPlace& place, EventNumbers& numbers);

/// Puts the events of a file into blocks; their numbers are judged as described at EventNumbers. Since the next event
/// may take back the newest one of a block, it is judged even if the block is full, and then waits for the next block.
class NumberedBlocks {
 public:
  /// Operations on the events of a format. "The current event" is the one the file is at.
  class Events {
   public:
    virtual ~Events() = default;
    /// Appends the hits of the current event.
    virtual void keep(Tick number, HitBlock& block) = 0;
    /// Removes the hits of the last kept event.
    virtual void take_back(DropCause cause, HitBlock& block) = 0;
    /// Counts the current event as lost.
    virtual void leave_out(DropCause cause, HitBlock& block) = 0;
  };

  /// `place`: where the numbers are. `events` must outlive this.
  NumberedBlocks(const NumberPlace& place, Events& events) : place_(place), numbers_(place.bits), events_(events) {}

  /// Begins a block, which must be empty: appends the current event if it waits.
  void begin(HitBlock& block);
  /// Whether `number` is that of the last kept event.
  [[nodiscard]] bool repeats(std::uint32_t number) const { return numbers_.repeats(number); }
  /// Judges the current event. Returns false if the block is full and the event waits; no event in the block will then
  /// be taken back.
  bool add(std::uint32_t number, bool completes_previous, HitBlock& block);
  /// Judges the last event at the end of the stream. `name`: the source, for messages.
  void finish(const std::string& name, HitBlock& block);

  [[nodiscard]] Counters counters() const { return numbers_.counters(); }

 private:
  NumberPlace place_;
  EventNumbers numbers_;
  Events& events_;
  std::optional<Tick> waiting_;  ///< number of the current event, if it waits
};

}  // namespace eventloom
