#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "formats/event.hpp"
#include "formats/ids.hpp"

namespace eventloom {

/// The data of one source received for one slice: stored epoch buffers back to back, in one or several pieces of
/// memory, each aligned to 8 bytes, and the ranges that the source dropped. No buffer is divided among pieces.
struct SourceSlice {
  std::vector<std::span<const std::byte>> pieces;
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
