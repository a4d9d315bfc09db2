#pragma once

#include <span>

#include "core/dataflow/source_slice.hpp"
#include "formats/event.hpp"
#include "formats/geometry.hpp"

namespace eventloom {

/// Enters losses into the ledger row and the list of missing sources, and flags the events that may lack hits. `out`
/// must already contain the events.
void account_for_damage(std::span<const SourceDamage> damage, const SliceGeometry& geometry, BuiltSlice& out);

}  // namespace eventloom
