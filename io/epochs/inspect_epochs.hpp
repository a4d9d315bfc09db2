#pragma once

#include <cstdint>
#include <optional>

#include "core/runtime/json.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Contents of an `.epochs` file: file, kind, damaged, file_bytes, its header, counts of all items, damage and
/// problems, and its first `n_hits` hits as first_events. Throws UserError like read_epochs_report(), and when
/// `tick_ps` differs from the file's.
Json inspect_epochs(const SourceUri& uri, std::uint64_t n_hits, std::optional<std::uint64_t> tick_ps);

}  // namespace eventloom
