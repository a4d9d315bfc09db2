#pragma once

#include <functional>

#include "core/control/collective.hpp"

namespace eventloom {

/// Runs `work` once as each of `n` ranks, which are threads of this process, and waits until all have ended. Rethrows
/// the exception of the first that threw. If one rank leaves with an exception, the next collective operation of the
/// others throws std::runtime_error; std::logic_error if a rank sends another number of bytes than the others expect.
void run_as_ranks(int n, const std::function<void(const Collective& ranks)>& work);

}  // namespace eventloom
