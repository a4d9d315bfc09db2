#pragma once

#include <cstdint>
#include <optional>

#include "io/hld/hld_file.hpp"
#include "io/hld/trb_tdc.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// The keys of an hld: URI.
struct HldOptions {
  std::optional<TdcAddresses> tdcs;  ///< with the key `tdc`: hits are TDC times
  std::optional<TdcClock> clock;     ///< with time=tdc: the clock of the hit times; otherwise they are event numbers
  unsigned bits = 32;                ///< of event numbers, the lowest, which wrap around

  [[nodiscard]] std::uint32_t number_of(const HldEvent& event) const {
    return event.number & ~std::uint32_t{0} >> (32 - bits);
  }
};

/// Throws UserError when a key is invalid; with time=tdc also when a step of the TDC clock is not a whole number of
/// ticks of `tick_ps`.
HldOptions parse_hld_options(const SourceUri& uri, std::uint64_t tick_ps);

}  // namespace eventloom
