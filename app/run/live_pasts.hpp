#pragma once

#include <string>
#include <vector>

#include "app/run/run_resume.hpp"
#include "app/run/run_setup.hpp"
#include "core/control/collective.hpp"

namespace eventloom {

/// Collective, before the sources begin. Tells the live sources of a resumed run where the earlier invocations left
/// them, and has all live sources keep their places beside the output.
void prepare_live_sources(const std::string& output, RunSetup& setup, const std::vector<Resumption>& resumptions,
                          const Collective& ranks);

}  // namespace eventloom
