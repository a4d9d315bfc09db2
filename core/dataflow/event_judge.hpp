#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/event.hpp"

namespace eventloom {

/// Judges events one slice at a time, after the filter's expressions. Its verdict must be a function of the event
/// alone: an event that reaches into several slices is judged for each of them.
class EventJudge {
 public:
  virtual ~EventJudge() = default;

  /// Sets `keep`, 1 or 0 per event of `slice`, for those whose `asked` is 1; leaves the others at 0. `kind`: index of
  /// the kind of events. Returns false if it cannot judge them, now and ever after; it has reported why.
  virtual bool judge(const BuiltSlice& slice, std::size_t kind, std::span<const std::uint8_t> asked,
                     std::vector<std::uint8_t>& keep) = 0;
};

}  // namespace eventloom
