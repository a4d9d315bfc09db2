#pragma once

namespace eventloom {

/// `eventloom plan`; see command_line.hpp for what commands return and throw.
int plan_command(int argc, const char* const* argv);

}  // namespace eventloom
