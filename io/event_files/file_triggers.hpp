#pragma once

#include <cstdint>
#include <vector>

namespace eventloom {

/// Trigger types of events that begin or end a list-mode file: of a spill, or of a start and a stop.
struct FileTriggers {
  std::vector<std::uint32_t> begin;  ///< such an event is the first of a file
  std::vector<std::uint32_t> end;    ///< the last

  [[nodiscard]] bool empty() const { return begin.empty() && end.empty(); }
};

}  // namespace eventloom
