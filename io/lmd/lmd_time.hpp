#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/event.hpp"
#include "formats/geometry.hpp"
#include "io/lmd/lmd_event.hpp"
#include "io/recorded/number_word.hpp"
#include "io/recorded/stamp_clock.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Origin of an LMD event's time, selected by the source's URI:
///
///   time=tag[&bits=N][&number=word:OFFSET[:LOW-HIGH]][&from=ID]
///                                     event number (default): the lowest N bits (32) of that in the event header, or
///                                     bits of a data word
///   time=wr[&wr=ID]                   the first White Rabbit stamp at the start of a subevent, of system ID; an event
///                                     whose stamp has its error bit set has no time, unless bad-stamps=keep
///   time=word:OFFSET,COUNT[&from=ID]  data words; COUNT is 1 or 2, the low word first; with the keys of ClockTurns
///                                     they count a clock that turns
///
/// Data words come from the first subevent that has them, or that also has the control, crate and procid of `from`.
///
/// Times are in `unit` (ns); `round` allows times that are not whole ticks.
class LmdTime {
 public:
  /// Throws UserError when a key is invalid.
  LmdTime(const SourceUri& uri, std::uint64_t tick_ps);

  /// Whether times are event numbers. of() does not return these, since they must be judged by their neighbours.
  [[nodiscard]] bool numbered() const { return kind_ == Kind::number; }
  /// Width of the event numbers, which wrap around.
  [[nodiscard]] unsigned bits() const { return number_.bits; }
  [[nodiscard]] const NumberPlace& number_place() const { return number_; }
  /// The event's number; std::nullopt if it has none.
  [[nodiscard]] std::optional<std::uint32_t> number_of(const LmdEvent& event) const;
  /// The event's time; std::nullopt if it has no time that is a valid tick. Events must be passed in their order.
  [[nodiscard]] std::optional<Tick> of(const LmdEvent& event);
  /// Why an event without a time is dropped. Throws UserError, whose line begins with `place`, when its counter does
  /// not have the number, unless the URI has skip-bad=yes.
  [[nodiscard]] DropCause cause_for_none(const LmdEvent& event, const std::string& place);
  /// The turns of the counter in data words; none if it does not turn, or times are others.
  [[nodiscard]] ClockTurns& turns() { return clock_.turns(); }
  [[nodiscard]] const ClockTurns& turns() const { return clock_.turns(); }
  /// Likewise if it may turn without saying so.
  [[nodiscard]] std::optional<RawClock> raw_clock() const {
    return kind_ == Kind::words ? std::optional(clock_.raw_clock()) : std::nullopt;
  }
  /// Description for the stream header, such as "the event number, unwrapped".
  [[nodiscard]] std::string description() const;
  /// Why an event has no number or time, such as "no subevent has data word 3 with its number".
  [[nodiscard]] std::string reason_for_none(const LmdEvent& event) const;

 private:
  enum class Kind : std::uint8_t { number, white_rabbit, words };

  void read_words(const SourceUri& uri, const std::string& text);
  void refuse_misplaced(const SourceUri& uri) const;
  [[nodiscard]] std::optional<std::uint64_t> number_in(const LmdSubevent& sub) const;
  [[nodiscard]] std::optional<std::uint64_t> stamp(const LmdSubevent& sub) const;
  [[nodiscard]] bool is_marked(const LmdEvent& event) const;
  [[nodiscard]] std::string subevent() const;
  [[nodiscard]] std::optional<std::uint64_t> words(const LmdSubevent& sub, std::size_t offset, std::size_t count) const;

  Kind kind_ = Kind::number;
  StampClock clock_;
  std::string unit_;
  std::optional<std::uint32_t> id_;  ///< id of the White Rabbit system or of the subevent
  bool keeps_marked_ = false;        ///< stamps with the error bit are times, too
  std::size_t offset_ = 0;           ///< offset of the words with the time
  std::size_t count_ = 1;
  NumberPlace number_;
};

}  // namespace eventloom
