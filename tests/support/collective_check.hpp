#pragma once

#include <string>

#include "core/control/collective.hpp"

namespace eventloom {

/// Collective: calls every member of `ranks`, of any implementation. Returns the first wrong result on this rank, or an
/// empty text.
std::string collective_fault(const Collective& ranks);

}  // namespace eventloom
