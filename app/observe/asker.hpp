#pragma once

#include <string>

#include "app/observe/http_message.hpp"

namespace eventloom {

/// Names the client for the log and the output, for example "127.0.0.1 (ann@n1)". Text supplied by the client is
/// truncated and made safe for terminals.
std::string name_of_asker(const HttpRequest& request);

}  // namespace eventloom
