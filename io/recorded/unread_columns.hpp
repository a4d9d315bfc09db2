#pragma once

#include <span>
#include <string>

namespace eventloom {

/// A message of bounded length: "columns not read: a, b; payload=COLUMN,... keeps those that are payload".
std::string unread_columns(std::span<const std::string> names);

}  // namespace eventloom
