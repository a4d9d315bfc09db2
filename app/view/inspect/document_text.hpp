#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace eventloom {

/// Formats what `inspect` knows of a file, an object with the member "file", as lines of text; safe for a terminal.
/// Truncates long lists of problems.
std::string text_of_document(const nlohmann::ordered_json& document);

}  // namespace eventloom
