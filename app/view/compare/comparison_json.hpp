#pragma once

#include <nlohmann/json.hpp>

#include "app/view/compare/comparison_text.hpp"

namespace eventloom {

/// The comparison as a document. Both hit lists are complete; differing hits are not marked.
nlohmann::ordered_json comparison_json(const NamedRun& a, const NamedRun& b, const Comparison& comparison);

}  // namespace eventloom
