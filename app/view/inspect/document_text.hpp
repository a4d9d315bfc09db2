#pragma once

#include <string>

#include "core/runtime/json.hpp"

namespace eventloom {

/// Formats what `inspect` knows of a file, an object with the member "file", as lines of text; safe for a terminal.
/// Truncates long lists of problems.
std::string text_of_document(const Json& document);

}  // namespace eventloom
