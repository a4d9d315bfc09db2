#pragma once

#include <cstdint>
#include <optional>

#include "io/hld/trb_tdc.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// What the keys of an hld: URI ask for.
struct HldOptions {
  std::optional<TdcAddresses> tdcs;  ///< with the key `tdc`: times of TDCs are wanted
  std::optional<TdcClock> clock;     ///< with time=tdc: hits get these times; else event numbers
};

/// Throws UserError when a key makes no sense; with time=tdc also when the clock of the TDCs has no whole number of
/// ticks of `tick_ps`.
HldOptions parse_hld_options(const SourceUri& uri, std::uint64_t tick_ps);

}  // namespace eventloom
