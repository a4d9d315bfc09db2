#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "io/midas/midas_file.hpp"
#include "io/recorded/number_word.hpp"
#include "io/recorded/tick_scale.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Determines the time of a MIDAS event as the source's URI specifies:
///
///   time=tag[&bits=N][&number=word:OFFSET[:LOW-HIGH]][&from=NAME]
///                                 the event number; the default. The lowest N bits (32) of the header's serial number,
///                                 or some bits of a 32-bit word of the first bank that has it, or of the first bank
///                                 NAME
///   time=NAME:OFFSET[,COUNT]      32-bit words of the first bank NAME; COUNT is 1 or 2, the low word first
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
  /// The width of the numbers, which wrap around.
  [[nodiscard]] unsigned bits() const { return number_.bits; }
  /// The event's number; std::nullopt if it has none.
  [[nodiscard]] std::optional<std::uint32_t> number_of(const MidasEvent& event) const;
  /// The event's time; std::nullopt if it is missing or not a valid tick.
  [[nodiscard]] std::optional<Tick> of(const MidasEvent& event) const;
  /// A description for messages.
  [[nodiscard]] std::string description() const;
  /// Why an event has no number: "no bank has data word 3 with its number".
  [[nodiscard]] std::string reason_for_no_number() const;

 private:
  void read(const SourceUri& uri, const std::string& text);
  [[nodiscard]] std::optional<std::uint64_t> words(const MidasEvent& event, std::size_t offset,
                                                   std::size_t count) const;

  TickScale scale_;
  std::string text_;                   ///< value of the key `time`
  std::optional<std::uint32_t> bank_;  ///< bank that has the time, or must have the number
  std::size_t offset_ = 0;             ///< words
  std::size_t count_ = 1;
  bool in_records_;  ///< the records of a bank hold the times
  NumberPlace number_;
  std::string from_;  ///< value of the key `from`
};

}  // namespace eventloom
