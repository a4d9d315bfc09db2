#pragma once

#include <string>
#include <vector>

#include "app/run/run_resume.hpp"
#include "app/run/run_setup.hpp"
#include "core/control/collective.hpp"

namespace eventloom {

/// Collective. Call before the sources begin. Passes to the live sources of a resumed run the positions that earlier
/// invocations reached, and makes all live sources record their positions in files beside `output`.
void prepare_live_sources(const std::string& output, RunSetup& setup, const std::vector<Resumption>& resumptions,
                          const Collective& ranks);

}  // namespace eventloom
