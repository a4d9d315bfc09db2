#pragma once

#include <functional>

#include "core/control/collective.hpp"

namespace eventloom {

/// Ranks as threads of this process: runs `work` once as each of `n` ranks and waits until all have ended. Rethrows the
/// exception of the first that threw. When a rank leaves by an exception alone, the next collective operation of the
/// others throws std::runtime_error; std::logic_error when a rank sends another number of bytes than the others expect.
void run_as_ranks(int n, const std::function<void(const Collective& ranks)>& work);

}  // namespace eventloom
