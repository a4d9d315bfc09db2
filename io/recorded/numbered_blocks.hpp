#pragma once

#include <cstdint>
#include <optional>

#include "core/runtime/metrics.hpp"
#include "formats/event.hpp"
#include "io/recorded/event_numbers.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Puts the events of a file into blocks by their numbers, judged as described at EventNumbers: the newest event of a
/// block may be taken back when the next one comes, which therefore waits for the next block when this one is full.
class NumberedBlocks {
 public:
  /// What is done with the events of a format.
  class Events {
   public:
    virtual ~Events() = default;
    /// Appends the hits of the file's event.
    virtual void keep(Tick number, HitBlock& block) = 0;
    /// Removes those of the event kept last.
    virtual void take_back(DropCause cause, HitBlock& block) = 0;
    /// Counts the file's event as lost.
    virtual void leave_out(DropCause cause, HitBlock& block) = 0;
  };

  /// `bits`: width of the numbers. `events` outlives this.
  NumberedBlocks(unsigned bits, Events& events) : numbers_(bits), events_(events) {}

  /// Appends the file's event if it waits; the block is empty.
  void begin(HitBlock& block);
  /// Whether `number` is that of the event kept last.
  [[nodiscard]] bool repeats(std::uint32_t number) const { return numbers_.repeats(number); }
  /// Judges the file's event. False when the block is full and the event waits: nothing in the block will be taken
  /// back.
  bool add(std::uint32_t number, bool completes_previous, HitBlock& block);
  /// At the end of the stream.
  void finish(HitBlock& block);

  [[nodiscard]] Counters counters() const { return numbers_.counters(); }

 private:
  EventNumbers numbers_;
  Events& events_;
  std::optional<Tick> waiting_;  ///< number of the file's event
};

}  // namespace eventloom
