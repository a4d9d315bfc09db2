#pragma once

#include <string>

#include "core/runtime/metrics.hpp"

namespace eventloom {

/// A source's nonzero counters of trouble, by name: "lost_buffers 2, lost_hits 17"; empty without any.
std::string trouble_text(const Counters& source);

}  // namespace eventloom
