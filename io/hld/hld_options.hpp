#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/hld/hld_file.hpp"
#include "io/hld/trb_tdc.hpp"
#include "io/recorded/number_word.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Options in an hld: URI.
struct HldOptions {
  std::optional<TdcAddresses> tdcs;  ///< set by the key `tdc`: hits are TDC times
  std::optional<TdcClock> clock;     ///< set by time=tdc: the clock of the hit times; otherwise they are event numbers
  NumberPlace number;
  std::optional<std::uint32_t> from;  ///< id of the subevent with the number; default: the first that has it

  /// The event's number; std::nullopt if it has none.
  [[nodiscard]] std::optional<std::uint32_t> number_of(const HldEvent& event) const;
  /// Description for the stream header, such as "the event number".
  [[nodiscard]] std::string number_text() const;
  /// Message that explains why an event has no number.
  [[nodiscard]] std::string reason_for_none() const;
};

/// Throws UserError when a key is invalid or, with time=tdc, when a step of the TDC clock is not a whole number of
/// ticks of `tick_ps`.
HldOptions parse_hld_options(const SourceUri& uri, std::uint64_t tick_ps);

}  // namespace eventloom
