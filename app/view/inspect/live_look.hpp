#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>

#include "formats/geometry.hpp"
#include "io/registry/source_spec.hpp"

namespace eventloom {

/// What `inspect` shows of live sources.
struct LiveLook {
  std::uint64_t events = 0;       ///< it ends after so many, of all sources together; 0: it goes on
  bool rates = false;             ///< a line for each source and second instead of the events
  bool hex = false;               ///< words of the payload
  std::optional<Tick> only = {};  ///< only the event of this number; it ends when that has come
};

/// Listens to live sources and shows what they send as it comes, until all have ended, `look` has been answered or a
/// signal asks for the end; then what was received of each. They see one more receiver. Returns the exit code: 3 with
/// losses. Throws UserError when a source cannot be opened.
int look_at_live(std::span<const SourceSpec> specs, const LiveLook& look, const TimeBaseOptions& base,
                 std::ostream& out);

}  // namespace eventloom
