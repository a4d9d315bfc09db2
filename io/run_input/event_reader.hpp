#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "io/run_input/open_output.hpp"
#include "io/run_input/output_event.hpp"

namespace eventloom {

/// Rows [first, first + n) of /events of a part or a merged file, as far as there are any; of each event its first
/// `most_hits` hits. Throws UserError when the file is damaged.
std::vector<OutputEvent> read_event_rows(const OpenOutput& open, std::uint64_t first, std::uint64_t n,
                                         std::uint64_t most_hits = std::numeric_limits<std::uint64_t>::max());

}  // namespace eventloom
