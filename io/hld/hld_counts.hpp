#pragma once

#include "core/dataflow/source_counts.hpp"
#include "io/hld/hld_file.hpp"

namespace eventloom {

/// What HLD files hold, whatever becomes of it: nothing so far.
SourceCounts hld_counts();
/// Counts an event and its subevents, or an event that marks the begin or the end of a run.
void count(const HldEvent& event, SourceCounts& counts);

}  // namespace eventloom
