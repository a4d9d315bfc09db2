#pragma once

#include <cstdint>
#include <optional>

#include "core/runtime/json.hpp"
#include "io/registry/source_spec.hpp"

namespace eventloom {

/// Returns the document that `inspect` shows for a recorded source: see SourceScheme::inspect. The key `concat` shows
/// the hits of all its files together. Throws UserError for a source that it does not show.
Json inspect_source(const SourceSpec& spec, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps);

}  // namespace eventloom
