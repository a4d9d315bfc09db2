#pragma once

#include "app/view/compare/comparison_text.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

/// The comparison as a document. Both hit lists are complete; differing hits are not marked.
Json comparison_json(const NamedRun& a, const NamedRun& b, const Comparison& comparison);

}  // namespace eventloom
