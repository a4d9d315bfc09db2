#pragma once

#include <spdlog/spdlog.h>

namespace eventloom {

/// Sends spdlog's default logger to standard error, one line a message, with `name` (the role or
/// the rank) in front. Results never go through here: they go to standard output.
void set_up_log(const std::string& name);

}  // namespace eventloom
