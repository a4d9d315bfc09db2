#pragma once

namespace eventloom {

/// `eventloom simulate`; see command_line.hpp for what commands return and throw.
int simulate_command(int argc, const char* const* argv);

}  // namespace eventloom
