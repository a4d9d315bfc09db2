#pragma once

#include <string>

#include "core/control/collective.hpp"

namespace eventloom {

/// Collective. Whether all ranks have the same host name.
bool on_one_host(const Collective& ranks);

/// The IPv4 address at which other ranks reach this one: of the interface that UCX_NET_DEVICES names; otherwise
/// 127.0.0.1 if all ranks are on one host, or of the first interface but loopback. Throws UserError if there is none.
std::string reachable_address(bool one_host);

}  // namespace eventloom
