#pragma once

#include <string>

#include "core/control/collective.hpp"

namespace eventloom {

/// Collective: says what all of its members can say, whatever ranks are. Returns the first answer on this rank that is
/// not as promised, empty when all are.
std::string collective_fault(const Collective& ranks);

}  // namespace eventloom
