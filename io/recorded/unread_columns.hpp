#pragma once

#include <span>
#include <string>

namespace eventloom {

/// "columns not read: a, b; payload=COLUMN,... keeps those that are payload": a line for people, bounded in length.
std::string unread_columns(std::span<const std::string> names);

}  // namespace eventloom
