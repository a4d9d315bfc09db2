#pragma once

#include <string>

#include "app/observe/http_message.hpp"

namespace eventloom {

/// Who asks, as the log and the output say it: "127.0.0.1 (ann@n1)". What clients say of themselves is cut, and nothing
/// in it acts on a terminal.
std::string name_of_asker(const HttpRequest& request);

}  // namespace eventloom
