#pragma once

#include <cstdint>

#include "schedulers/scheduler.hpp"

namespace eventloom {

/// A schedule of slots: a source sends in slot order and waits until the next builder is ready.
class Ordered : public Scheduler {
 public:
  /// The slot in which `source` sends `slice`. No two slices of a source share one.
  [[nodiscard]] virtual std::uint64_t slot_of(SourceId source, SliceId slice) const = 0;
  [[nodiscard]] std::optional<BuilderId> choose(const SourceView& view) const final;
};

}  // namespace eventloom
