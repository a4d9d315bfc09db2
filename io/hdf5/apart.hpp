#pragma once

#include <functional>
#include <optional>
#include <string>

namespace eventloom {

/// Runs `work` once in a child process, to learn whether it can be done at all: HDF5 1.10 crashes on some damaged
/// metadata and runs round in circles on other. Returns how the child died; nothing when `work` returned or threw.
/// `work` must only read, and gives nothing back.
std::optional<std::string> dies_apart(const std::function<void()>& work);

}  // namespace eventloom
