#pragma once

#include <optional>

#include "schedulers/scheduler.hpp"

namespace eventloom {

/// The first builder that can be served from the one on that is next, round and round: so that none is preferred, and
/// the sources, which begin at different builders, do not all send to the same one.
std::optional<BuilderId> first_ready(const SourceView& view);

}  // namespace eventloom
