#pragma once

#include <cstdint>
#include <vector>

namespace eventloom {

/// Trigger types of events that begin or end a list-mode file, such as spill on and off, or start and stop.
struct FileTriggers {
  std::vector<std::uint32_t> begin;  ///< types of events that are the first of a file
  std::vector<std::uint32_t> end;    ///< types of events that are the last of a file

  [[nodiscard]] bool empty() const { return begin.empty() && end.empty(); }
};

}  // namespace eventloom
