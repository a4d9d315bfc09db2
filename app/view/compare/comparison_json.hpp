#pragma once

#include <nlohmann/json.hpp>

#include "app/view/compare/comparison_text.hpp"

namespace eventloom {

/// The same as a document; differing hits are not marked, both lists are there.
nlohmann::ordered_json comparison_json(const NamedRun& a, const NamedRun& b, const Comparison& comparison);

}  // namespace eventloom
