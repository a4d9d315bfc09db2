#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>

#include "formats/geometry.hpp"
#include "io/registry/source_spec.hpp"

namespace eventloom {

/// Selects what to show of live sources.
struct LiveLook {
  std::uint64_t events = 0;       ///< number of events to show, of all sources together; 0: no limit
  bool rates = false;             ///< print a line per source and second instead of the events
  bool hex = false;               ///< print payload words in hexadecimal
  std::optional<Tick> only = {};  ///< show only the event of this number, then end
};

/// Listens to live sources and shows their data as they arrive, until all have ended, `look` is satisfied or a signal
/// requests the end; then prints the totals of each. The sources see one more receiver. Returns the exit code: 3 with
/// losses. Throws UserError if a source cannot be opened.
int look_at_live(std::span<const SourceSpec> specs, const LiveLook& look, const TimeBaseOptions& base,
                 std::ostream& out);

}  // namespace eventloom
