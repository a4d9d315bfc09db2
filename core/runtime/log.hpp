#pragma once

#include <spdlog/spdlog.h>

namespace eventloom {

/// Sends spdlog's default logger to standard error, one line per message, prefixed with `name` (the role or the rank).
/// Results never use it: they go to standard output.
void set_up_log(const std::string& name);

}  // namespace eventloom
