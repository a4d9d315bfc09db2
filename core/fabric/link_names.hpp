#pragma once

#include <string>
#include <vector>

#include "core/fabric/fabric_routes.hpp"

namespace eventloom {

/// The links that `text` names: "NODE", a number counted from 0, for the links of a node itself; a link's name; the
/// name without "_UP" and "_DOWN" for both directions; and in a network with leaf switches "up:LEAF:SPINE",
/// "down:LEAF:SPINE" and "cable:LEAF:SPINE" for both. Leaves are counted from 0 in the order of their nodes, the
/// spines of a leaf in the order of the nodes to which the routes lead over them. Only links that routes cross are
/// known. Throws UserError, which begins with `option` and lists the closest names.
std::vector<LinkNumber> links_named(const FabricRoutes& fabric, const std::string& text, const std::string& option);

}  // namespace eventloom
