#pragma once

#include <string>
#include <vector>

namespace eventloom {

/// Description of the payload and the values of hits in an output.
struct HitNotes {
  std::vector<std::string>
      payload_names;  ///< names of the payload columns; empty unless all sources with payload have the same
  std::vector<std::string> payload_types;  ///< u32, i32, f32 or f64 (two words, the low one first), one for each name
  bool with_values = false;                ///< /hits has a value for each hit
  std::string value_unit;                  ///< empty: unknown, or not the same everywhere
};

}  // namespace eventloom
