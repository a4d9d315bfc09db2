#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace eventloom {

/// What `inspect` knows of a file, an object with the member "file", as lines for people; safe for a terminal. Long
/// lists of problems are cut.
std::string text_of_document(const nlohmann::ordered_json& document);

}  // namespace eventloom
