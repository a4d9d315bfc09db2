#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "io/run_input/open_output.hpp"
#include "io/run_input/output_event.hpp"

namespace eventloom {

/// Reads those of the rows [first, first + n) of /events that exist in a part or a merged file, with the first
/// `most_hits` hits of each event. Throws UserError when the file is damaged.
std::vector<OutputEvent> read_event_rows(const OpenOutput& open, std::uint64_t first, std::uint64_t n,
                                         std::uint64_t most_hits = std::numeric_limits<std::uint64_t>::max());

}  // namespace eventloom
