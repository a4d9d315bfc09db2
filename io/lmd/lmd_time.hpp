#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/geometry.hpp"
#include "io/lmd/lmd_event.hpp"
#include "io/recorded/tick_scale.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Where the time of an LMD event comes from, as the source's URI says:
///
///   time=tag                          its number; the default
///   time=wr[&wr=ID]                   the first White Rabbit stamp at the start of a subevent, of system ID
///   time=word:OFFSET,COUNT[&from=ID]  data words of the first subevent that has them, or of the subevents that
///                                     are control, crate, procid ID; COUNT is 1 or 2, the low word first
///
/// Times count `unit` (ns); `round` allows times that are not whole ticks.
class LmdTime {
 public:
  /// Throws UserError when a key is invalid.
  LmdTime(const SourceUri& uri, std::uint64_t tick_ps);

  /// Whether times are event numbers, which of() does not return: they are judged by their neighbours.
  [[nodiscard]] bool numbered() const { return kind_ == Kind::number; }
  /// Nothing when the event has no time, or one that is not a valid tick.
  [[nodiscard]] std::optional<Tick> of(const LmdEvent& event) const;
  /// For messages: "the event number, unwrapped".
  [[nodiscard]] std::string description() const;

 private:
  enum class Kind : std::uint8_t { number, white_rabbit, words };

  void read_words(const SourceUri& uri, const std::string& text);
  [[nodiscard]] std::optional<std::uint64_t> stamp(const LmdSubevent& sub) const;
  [[nodiscard]] std::optional<std::uint64_t> words(const LmdSubevent& sub) const;

  Kind kind_ = Kind::number;
  TickScale scale_;
  std::string unit_;
  std::optional<std::uint32_t> id_;  ///< of the White Rabbit system, or of the subevent
  std::size_t offset_ = 0;           ///< 32-bit words
  std::size_t count_ = 1;
};

}  // namespace eventloom
