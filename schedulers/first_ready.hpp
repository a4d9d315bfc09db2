#pragma once

#include <optional>

#include "schedulers/scheduler.hpp"

namespace eventloom {

/// The first ready builder in a circular search from `view.start`. No builder is preferred, and sources, which start
/// at different builders, do not all send to the same one.
std::optional<BuilderId> first_ready(const SourceView& view);

}  // namespace eventloom
