#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "formats/event.hpp"
#include "io/midas/midas_file.hpp"
#include "io/recorded/number_word.hpp"
#include "io/recorded/stamp_clock.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Determines the time of a MIDAS event as the source's URI specifies:
///
///   time=tag[&bits=N][&number=word:OFFSET[:LOW-HIGH]][&from=NAME]
///                                 the event number; the default. The lowest N bits (32) of the header's serial number,
///                                 or some bits of a 32-bit word of the first bank that has it, or of the first bank
///                                 NAME
///   time=NAME:OFFSET[,COUNT]      32-bit words of the first bank NAME; COUNT is 1 or 2, the low word first;
///                                 with the keys of ClockTurns they count a clock that turns
///
///   time=TYPE@OFFSET              a field of the records of a bank: see MidasRecords
///
/// Times are in `unit` (ns); `round` allows times that are not whole ticks.
class MidasTime {
 public:
  /// Throws UserError when a key is invalid.
  MidasTime(const SourceUri& uri, std::uint64_t tick_ps);

  /// Whether times are event numbers. of() does not return those, as they are checked against their neighbours.
  [[nodiscard]] bool numbered() const { return text_ == "tag"; }
  /// Whether the records of a bank hold the times; of() then has none.
  [[nodiscard]] bool in_records() const { return in_records_; }
  /// The words that hold the event numbers, and their width.
  [[nodiscard]] const NumberPlace& number_place() const { return number_; }
  /// The event's number; std::nullopt if it has none.
  [[nodiscard]] std::optional<std::uint32_t> number_of(const MidasEvent& event) const;
  /// The event's time; std::nullopt if it is missing or not a valid tick. Events must be passed in their order.
  [[nodiscard]] std::optional<Tick> of(const MidasEvent& event);
  /// Why an event without a time is dropped. Throws UserError, whose line begins with `place`, when its counter does
  /// not have the number, unless the URI has skip-bad=yes.
  [[nodiscard]] DropCause cause_for_none(const MidasEvent& event, const std::string& place);
  /// The turns of the counter in words of a bank; none if it does not turn, or times are others.
  [[nodiscard]] ClockTurns& turns() { return clock_.turns(); }
  [[nodiscard]] const ClockTurns& turns() const { return clock_.turns(); }
  /// That counter if it may turn without saying so.
  [[nodiscard]] std::optional<RawClock> raw_clock() const {
    return numbered() || in_records_ ? std::nullopt : std::optional(clock_.raw_clock());
  }
  /// A description for messages.
  [[nodiscard]] std::string description() const;
  /// Why an event has no number: "no bank has data word 3 with its number".
  [[nodiscard]] std::string reason_for_no_number() const;

 private:
  void read(const SourceUri& uri, const std::string& text);
  [[nodiscard]] std::optional<std::uint64_t> words(const MidasEvent& event, std::size_t offset,
                                                   std::size_t count) const;

  StampClock clock_;
  std::string text_;                   ///< value of the key `time`
  std::optional<std::uint32_t> bank_;  ///< bank that has the time, or must have the number
  std::size_t offset_ = 0;             ///< words
  std::size_t count_ = 1;
  bool in_records_;  ///< the records of a bank hold the times
  NumberPlace number_;
  std::string from_;  ///< value of the key `from`
};

}  // namespace eventloom
