#pragma once

#include <cstdint>

namespace eventloom {

/// Returns the number of TCP segments that this host (or network namespace) has retransmitted since it started, from
/// /proc/self/net/snmp (RFC 4022, tcpRetransSegs); 0 if unavailable.
std::uint64_t tcp_retransmits();

}  // namespace eventloom
