#pragma once

#include "core/dataflow/source_counts.hpp"
#include "io/hld/hld_file.hpp"

namespace eventloom {

/// Zeroed counts of the contents of HLD files; contents count whether used or not.
SourceCounts hld_counts();
/// Counts an event and its subevents, or an event that marks the beginning or end of a run.
void count(const HldEvent& event, SourceCounts& counts);

}  // namespace eventloom
