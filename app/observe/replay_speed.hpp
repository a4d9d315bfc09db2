#pragma once

#include <cstdint>
#include <string>

namespace eventloom {

/// Converts the argument of the command `speed` to millionths of the recorded speed. Throws UserError if the command
/// does not accept it.
std::uint64_t speed_in_millionths(double speed);

/// Throws UserError if the text is not a valid speed.
double parse_replay_speed(const std::string& text);

}  // namespace eventloom
