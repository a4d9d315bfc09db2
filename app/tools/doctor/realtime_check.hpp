#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/tools/doctor/findings.hpp"
#include "core/runtime/realtime.hpp"

namespace eventloom {

/// The rights that --realtime needs.
struct RealtimeRights {
  std::optional<std::uint64_t> lockable = std::nullopt;  ///< bytes; std::nullopt: no limit
  RealtimeRefusal fifo = {};                             ///< the answer to the call
  std::optional<double> left_to_others = 0.05;           ///< see FifoLoad
};

/// Says which steps of --realtime are possible for `ranks` ranks on `cores` cores of this host.
Finding realtime_finding(const RealtimeRights& rights, std::size_t ranks, std::size_t cores);

/// Likewise for this host. Tries SCHED_FIFO for an instant, on a separate thread.
Finding check_realtime(std::size_t ranks, std::size_t cores);

}  // namespace eventloom
