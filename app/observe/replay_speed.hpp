#pragma once

#include <cstdint>
#include <string>

namespace eventloom {

/// What the command `speed` takes, in millionths of the recorded speed. Throws UserError when it does not take `speed`.
std::uint64_t speed_in_millionths(double speed);

/// Throws UserError when it is no such number.
double parse_replay_speed(const std::string& text);

}  // namespace eventloom
