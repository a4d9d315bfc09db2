#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "formats/event.hpp"
#include "formats/ids.hpp"

namespace eventloom {

/// The data of one source received for one slice: stored epoch buffers back to back, aligned to 8 bytes, and the ranges
/// that the source dropped.
struct SourceSlice {
  std::span<const std::byte> buffers;
  std::span<const Damage> damage;
};

/// A defect found while building; the caller reports it once.
struct BuildProblem {
  SourceId source;
  Damage damage;  ///< file_offset points to the wrong word
  std::string reason;
};

struct SourceDamage {
  SourceId source;
  Damage damage;
};

}  // namespace eventloom
