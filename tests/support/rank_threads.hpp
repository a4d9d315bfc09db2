#pragma once

#include <functional>

#include "core/control/collective.hpp"

namespace eventloom {

/// Ranks as threads of this process: runs `work` once as each of `n` ranks and waits until all have ended. What the
/// first that throws has thrown is thrown on. Where one ends by an exception alone, the others get std::runtime_error
/// from what they do together next; std::logic_error when what a rank says is not as long as another expects.
void run_as_ranks(int n, const std::function<void(const Collective& ranks)>& work);

}  // namespace eventloom
