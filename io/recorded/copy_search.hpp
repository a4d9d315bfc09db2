#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "io/recorded/reorder_buffer.hpp"

namespace eventloom {

/// Recognises hits of a source that are equal in time, channel and payload to one before.
class CopySearch {
 public:
  /// Takes the hits in order of time.
  bool is_copy(const ReorderBuffer::Hit& hit);

 private:
  std::optional<Tick> time_;                   ///< time of the last hit
  std::set<std::vector<std::uint32_t>> seen_;  ///< channel and payload of the hits at this time
  std::vector<std::uint32_t> words_;
};

}  // namespace eventloom
