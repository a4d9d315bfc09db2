#pragma once

#include <optional>

#include "schedulers/scheduler.hpp"

namespace eventloom {

/// The first builder that can be served, in a search that starts one builder further after each transfer, and at a
/// different one for each source: so that none is preferred, and the sources do not all send to the same one.
std::optional<BuilderId> first_ready(const SourceView& view);

}  // namespace eventloom
