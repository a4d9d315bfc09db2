#pragma once

#include <cstdint>

namespace eventloom {

/// TCP segments that this host (or this network namespace) has sent again since it started, from
/// /proc/self/net/snmp (RFC 4022, tcpRetransSegs); 0 where unavailable.
std::uint64_t tcp_retransmits();

}  // namespace eventloom
