#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/transport/transport.hpp"

namespace eventloom {

/// A step of a message's path, and its time in ns.
using Step = std::pair<std::string, double>;

/// Puts start at this offset, beyond those at which receivers look for descriptors.
inline constexpr std::uint64_t kStepOffset = 4096;

/// The steps of the path of a message of this size to the window of rank `to`, each measured separately on this rank.
/// The window must have room for the message after kStepOffset.
std::vector<Step> measure_steps(Transport& transport, int to, std::uint64_t message);

}  // namespace eventloom
