#pragma once

#include <string>

namespace eventloom {

/// The page that the monitor serves.
std::string page_for_monitor();

}  // namespace eventloom
